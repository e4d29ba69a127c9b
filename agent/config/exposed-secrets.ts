import type { Advised } from "../../shared/runtime/advised.ts";
import { isOpenToOthers } from "../../shared/files/private-folder.ts";
import { secretFilesOf } from "./values/destination.ts";
import type { Config } from "./values/schema.ts";

/** A place that is open to others, and what closes it. */
export interface Exposure extends Advised {
  readonly remedy: string;
}

/** Finds each file with a secret that other users of this machine can read. */
export function exposedSecrets({ server, proxyPasswordFile, devices, destinations }: Config): Exposure[] {
  const files = [
    ...[server.keyFile, proxyPasswordFile ?? []],
    ...devices.flatMap(({ tls }) => tls?.key ?? []),
    ...destinations.flatMap(secretFilesOf),
  ].flat();
  const exposed = [...new Set(files)].filter(isOpenToOthers);
  return exposed.map((file) => ({
    fault: `other users of this machine can read ${file}, which holds a secret`,
    remedy: `chmod 600 ${file}`,
  }));
}
