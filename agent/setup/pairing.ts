import path from "node:path";
import { folderOf } from "../host/config-file.ts";
import type { Host } from "../host/host.ts";
import { pair } from "../pairing/pair.ts";
import type { Pair } from "./setup.ts";

/** The file of the key, beside agent.yaml. */
const KEY_FILE = "agent.key";

/** Pairs with a code, for the agent of a host. */
export function pairWith({ file }: Pick<Host, "file">): Pair {
  return async ({ url, code, name }) => {
    const keyFile = path.join(folderOf(file), KEY_FILE);
    const { serverUrl, clinic, warnings } = await pair({ serverUrl: url, code, name, keyFile });
    return { url: serverUrl, keyFile: KEY_FILE, clinic: clinic.name, warnings };
  };
}
