import type { Host } from "../host/host.ts";
import type { Pair } from "./setup.ts";

/** Pairs with a code, for the agent of a host. */
export function pairWith(_host: Host): Pair {
  return () =>
    Promise.reject(new Error("this version cannot pair: save a key of the dashboard in a file, and use that file"));
}
