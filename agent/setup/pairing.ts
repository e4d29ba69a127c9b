import path from "node:path";
import { useNetworkOfFile } from "../config/network.ts";
import { folderOf } from "../config/config-file.ts";
import type { Host } from "../host.ts";
import { pair } from "../push/pair.ts";
import type { Pair } from "./setup.ts";

/** Pairs with a code, for the agent of a host. */
export function pairWith({ file }: Pick<Host, "file">): Pair {
  return async ({ url, code, name: agentName }) => {
    // Several agents of a machine may share a folder: agent.yaml has agent.key, agent-lab.yaml agent-lab.key.
    const name = `${path.parse(file).name}.key`;
    const keyFile = path.join(folderOf(file), name);
    useNetworkOfFile(path.resolve(file));
    const { serverUrl, pin, clinic, warnings } = await pair({ serverUrl: url, code, name: agentName, keyFile });
    return { url: serverUrl, keyFile: name, pin, clinic: clinic.name, warnings };
  };
}
