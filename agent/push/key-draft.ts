import fs from "node:fs";
import path from "node:path";
import { isWellFormedKey, newKey } from "../../shared/runtime/api-key.ts";
import { syncFolder, writePrivateFile } from "../../shared/files/private-folder.ts";

// The key of a pairing that is under way. It is on the disk before the server receives it.

interface Draft {
  readonly server: string;
  readonly code: string;
  readonly key: string;
}

/** @returns the kept key of an interrupted pairing with the same code, or a new key, which is durable then */
export function draftKey(keyFile: string, server: string, code: string): string {
  if (fs.statSync(keyFile, { throwIfNoEntry: false })?.isDirectory()) throw new Error("it is a folder");
  const { key: kept = "", ...of } = readDraft(draftFile(keyFile));
  if (of.server === server && of.code === code && isWellFormedKey(kept)) return kept;
  const key = newKey();
  writePrivateFile(draftFile(keyFile), `${JSON.stringify({ server, code, key } satisfies Draft)}\n`);
  return key;
}

/** Makes the draft the key: from here on the agent uses it. */
export function commitKey(keyFile: string, key: string): void {
  writePrivateFile(keyFile, `${key}\n`);
  fs.rmSync(draftFile(keyFile), { force: true });
  syncFolder(path.dirname(keyFile));
}

function draftFile(keyFile: string): string {
  return `${keyFile}.pairing`;
}

/** @returns nothing for a missing draft */
function readDraft(file: string): Partial<Draft> {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8")) as Draft;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}
