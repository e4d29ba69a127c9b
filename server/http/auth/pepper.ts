import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asOwner } from "../../../shared/files/folder-owner.ts";
import { makePrivateFolder, syncFolder } from "../../../shared/files/private-folder.ts";
import { errorCode } from "../../../shared/runtime/error-message.ts";

const PEPPER_BYTES = 32;

/**
 * Reads the pepper, the secret of the key digests, from the data folder. Creates it if there are no keys yet. Throws if
 * keys exist and the file is missing, since a new pepper would match none of them.
 */
export function loadPepper(folder: string, keysExist: boolean): Buffer {
  const path = join(folder, "pepper");
  const kept = readIfThere(path);
  if (kept === undefined) {
    if (keysExist) throw new Error(`${path} is missing, and the keys of this database were made with it: restore it`);
    makePrivateFolder(folder);
    asOwner(folder, makePepper);
  }
  // Synced before the first key, because keys without their pepper are lost. A killed process may have made the file without a
  // sync.
  syncFolder(folder);
  const pepper = kept ?? readFileSync(path);
  if (pepper.length !== PEPPER_BYTES) {
    throw new Error(`${path} has ${pepper.length} bytes, expected ${PEPPER_BYTES}: restore it`);
  }
  return pepper;
}

function makePepper(folder: string): void {
  const path = join(folder, "pepper");
  // The link is atomic: a process that starts at the same time reads the complete file.
  const draft = `${path}.${process.pid}`;
  // A killed process with the same pid may have left its draft.
  rmSync(draft, { force: true });
  writeFileSync(draft, randomBytes(PEPPER_BYTES), { mode: 0o600, flag: "wx", flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  } finally {
    rmSync(draft);
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
