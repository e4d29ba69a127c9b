import { createHash, randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { asOwner } from "../../../shared/files/folder-owner.ts";
import { makePrivateFolder, syncFolder } from "../../../shared/files/private-folder.ts";
import { errorCode } from "../../../shared/runtime/error-message.ts";

// The file of one revision. Its first line has the hash of the rest, so that a revision that somebody edited is noticed.

const MARK = /^# sha256 ([0-9a-f]{64})\n/;

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Writes a file that is not there yet, durably. @returns false if there is one already, which stays as it is */
export function writeOnce(file: string, text: string): boolean {
  const folder = path.dirname(file);
  makePrivateFolder(folder);
  return asOwner(folder, (here) => {
    const part = path.join(here, `.${randomUUID()}.part`);
    fs.writeFileSync(part, `# sha256 ${hashOf(text)}\n${text}`, { mode: 0o600, flag: "wx", flush: true });
    try {
      // A rename would replace the revision of a process that was faster.
      fs.linkSync(part, path.join(here, path.basename(file)));
      return true;
    } catch (error) {
      if (errorCode(error) === "EEXIST") return false;
      throw error;
    } finally {
      fs.rmSync(part, { force: true });
      syncFolder(here);
    }
  });
}

/** A file's text without its mark. A file that a person put there may have none. */
export interface StoredText {
  readonly text: string;
  readonly hash: string;
  readonly isChanged: boolean;
}

/** @returns null for a missing file. @throws Error of the system for one that cannot be read */
export function readStored(file: string): StoredText | null {
  let content: string;
  try {
    content = fs.readFileSync(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
  const [mark = "", stated] = MARK.exec(content) ?? [];
  const text = content.slice(mark.length);
  const hash = hashOf(text);
  return { text, hash, isChanged: stated !== undefined && stated !== hash };
}
