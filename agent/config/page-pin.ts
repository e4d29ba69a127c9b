import fs from "node:fs";
import path from "node:path";
import { writePrivateFile } from "../../shared/files/private-folder.ts";
import { randomText } from "../../shared/runtime/random-text.ts";

// The PIN of the local page. Other machines of the network need it; the PC itself does not.

/**
 * 59 bits, so that tries need no limit that strangers could use up: 2000 tries a second, from addresses without number, find it in a
 * year with a chance of one in 12 million.
 */
const PIN_CHARS = 12;

export function readPin(folder: string): string | null {
  const file = pinFile(folder);
  const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim() : "";
  return /^[A-Z2-9]{4}(-[A-Z2-9]{4}){2}$/.test(text) ? text : null;
}

/** Returns the PIN in a data folder, and makes one if there is none. Only the agent's user may read it. */
export function ensurePin(folder: string): string {
  const known = readPin(folder);
  if (known !== null) return known;
  const pin = randomText(PIN_CHARS);
  writePrivateFile(pinFile(folder), `${pin}\n`);
  return pin;
}

function pinFile(folder: string): string {
  return path.join(folder, "page-pin");
}
