// What everybody may ask for, by way of whatever cache is nearest.
import { Client } from "../api/client";

export const shared = new Client(() => null, "", "default");
