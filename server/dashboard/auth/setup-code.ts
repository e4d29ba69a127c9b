import { timingSafeEqual } from "node:crypto";
import { lstatSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { countUsers } from "../../records/users/users.ts";
import type { SetupCode } from "../context.ts";
import type { Store } from "../../database/store.ts";
import { writePrivateFile } from "../../../shared/files/private-folder.ts";
import { randomText } from "../../../shared/runtime/random-text.ts";

// The one-time code with which the first admin proves access to the server's machine. It ends when a user exists.

/**
 * 59 bits, so that tries need no limit that strangers could use up. 2000 tries a second from any number of addresses find it in a
 * year with a chance of one in 12 million.
 */
const CODE_CHARS = 12;

/**
 * Writes a code to the file `setup-code` of the data folder, readable by its owner alone, if the server has no user yet. The code of
 * an earlier start stays: the Debian package has printed it, and the machine may start again before a person types it.
 * @returns the code, and the file's path for the log, or undefined if users exist
 */
export async function createSetupCode(
  store: Store,
  folder: string,
): Promise<(SetupCode & { code: string; file: string }) | undefined> {
  const file = join(folder, "setup-code");
  if ((await countUsers(store)) > 0) {
    rmSync(file, { force: true });
    return undefined;
  }
  const code = storedCode(file) ?? randomText(CODE_CHARS);
  const letters = code.replaceAll("-", "");
  writePrivateFile(file, `${code}\n`);
  let isOver = false;
  return {
    code,
    file,
    matches(text) {
      const given = Buffer.from(text.toUpperCase().replaceAll(/[\s-]/g, ""));
      return !isOver && given.length === letters.length && timingSafeEqual(given, Buffer.from(letters));
    },
    end() {
      isOver = true;
      rmSync(file, { force: true });
    },
  };
}

/** @returns the code of an earlier start; null without a file, and for a link or another text in its place */
function storedCode(file: string): string | null {
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const code = readFileSync(file, "utf8").trim();
  return /^([A-Z2-9]{4}-){2}[A-Z2-9]{4}$/.test(code) ? code : null;
}
