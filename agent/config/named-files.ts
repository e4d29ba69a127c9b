import path from "node:path";
import { secretFilesOf } from "./values/destination.ts";
import { OwnProfiles } from "../devices/own/own-profiles.ts";
import type { Config } from "./values/schema.ts";

/**
 * The files that a configuration names: the key, certificates, lists of operators, passwords of archives and of the proxy, the own
 * profiles of devices.
 */
export function namedFiles({
  data,
  server,
  proxyPasswordFile,
  ca,
  devices,
  destinations,
  resultDestinations,
}: Config): string[] {
  const own = new OwnProfiles(data);
  const files = [
    ...[server.keyFile, proxyPasswordFile, ca],
    ...devices.flatMap(({ tls, operatorListFile }) => [...Object.values(tls ?? {}), operatorListFile]),
    ...devices.map(({ profile }) => own.fileOf(profile)),
    ...destinations.flatMap(secretFilesOf),
    ...destinations.map((destination) => (destination.way === "s3" ? destination.ca : null)),
    ...resultDestinations.map((destination) => (destination.kind === "hl7" ? destination.tls?.ca : null)),
  ];
  return [...new Set(files)].filter((file) => typeof file === "string").map((file) => path.resolve(file));
}
