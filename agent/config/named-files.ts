import path from "node:path";
import { secretFilesOf } from "./values/destination.ts";
import type { Config } from "./values/schema.ts";

/** The files that a configuration names: the key, certificates, lists of operators, passwords of archives and of the proxy. */
export function namedFiles({ server, proxyPasswordFile, ca, devices, destinations }: Config): string[] {
  const files = [
    ...[server.keyFile, proxyPasswordFile, ca],
    ...devices.flatMap(({ tls, operatorListFile }) => [...Object.values(tls ?? {}), operatorListFile]),
    ...destinations.flatMap(secretFilesOf),
    ...destinations.map((destination) => (destination.way === "s3" ? destination.ca : null)),
  ];
  return [...new Set(files)].filter((file) => typeof file === "string").map((file) => path.resolve(file));
}
