import fs from "node:fs";
import path from "node:path";
import type { NetworkSetting } from "../dashboard/types/settings/network.ts";
import { writePrivateFile } from "../../shared/files/private-folder.ts";
import { type Authority, makeAuthority } from "./authority.ts";
import type { OwnNames } from "./local-names.ts";
import { errorCode } from "../../shared/runtime/error-message.ts";

// Stores the network setting and the authority in the data folder, in files that only the server's user may read. A file is replaced
// by a complete one.

/** The setting, with the key of an own certificate. */
export const NETWORK_FILE = "network.json";
/** The authority with its key. */
export const AUTHORITY_FILE = "authority.json";

/** @returns "this machine" without a file @throws Error for a damaged file */
export function readSetting(folder: string): NetworkSetting {
  return (readJson(path.join(folder, NETWORK_FILE)) as NetworkSetting | null) ?? { way: "this machine" };
}

export function writeSetting(folder: string, setting: NetworkSetting): void {
  writePrivateFile(path.join(folder, NETWORK_FILE), `${JSON.stringify(setting)}\n`);
}

/** @returns null before the first one is made */
export function readAuthority(folder: string): Authority | null {
  return readJson(path.join(folder, AUTHORITY_FILE)) as Authority | null;
}

/** Reads the server's authority, or makes it. Phones and PCs trust it, so that it outlives every change of the setting. */
export function keptAuthority(folder: string, own: OwnNames, now: number): Authority {
  const kept = readAuthority(folder);
  if (kept !== null) return kept;
  const made = makeAuthority(own, now);
  writePrivateFile(path.join(folder, AUTHORITY_FILE), `${JSON.stringify(made)}\n`);
  return made;
}

/** @returns null without the file */
function readJson(file: string): unknown {
  let text: string;
  try {
    text = fs.readFileSync(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is damaged: remove it and choose the network again at the dashboard`, { cause: error });
  }
}
