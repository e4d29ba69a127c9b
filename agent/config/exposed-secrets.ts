import { isOpenToOthers } from "../../shared/files/private-folder.ts";
import { secretFilesOf } from "./values/destination.ts";
import type { Config } from "./values/schema.ts";

/** Returns a sentence for each file with a secret that other users of this machine can read. */
export function exposedSecrets({ server, proxyPasswordFile, devices, destinations }: Config): string[] {
  const files = [
    ...[server.keyFile, proxyPasswordFile ?? []],
    ...devices.flatMap(({ tls }) => tls?.key ?? []),
    ...destinations.flatMap(secretFilesOf),
  ].flat();
  const exposed = [...new Set(files)].filter(isOpenToOthers);
  return exposed.map((file) => `other users of this machine can read ${file}, which holds a secret: chmod 600 ${file}`);
}
