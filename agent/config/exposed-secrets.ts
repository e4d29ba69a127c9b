import { isOpenToOthers } from "../../shared/runtime/private-folder.ts";
import type { Config } from "./schema.ts";

/** One sentence for each file with a secret of the configuration that other users of this machine can read. */
export function exposedSecrets({ server, devices }: Pick<Config, "server" | "devices">): string[] {
  const files = [server.keyFile, ...devices.flatMap(({ tls }) => (tls?.key === undefined ? [] : [tls.key]))];
  const exposed = [...new Set(files)].filter(isOpenToOthers);
  return exposed.map((file) => `other users of this machine can read ${file}, which holds a secret: chmod 600 ${file}`);
}
