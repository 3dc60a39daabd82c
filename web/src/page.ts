// A page that needs nothing of its own.
import "./fan/page";
