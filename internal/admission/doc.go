// Package admission owns the line: who stands where, who is called, who is let
// in, and why nobody is. Order lives in a Store; what to do next is decided by
// pure functions of what is known and the time. Whatever is not known closes
// the door: nobody is ever let in on doubt (P10).
package admission
