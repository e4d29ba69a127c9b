import { randomInt } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { makePrivateFolder } from "../../shared/runtime/private-folder.ts";

// The PIN of the local page. Other machines of the network need it; the PC itself does not.

const DIGITS = 8;

/** Returns the PIN in a data folder; null if there is none. */
export function readPin(folder: string): string | null {
  const file = pinFile(folder);
  const text = fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim() : "";
  return /^\d{8}$/.test(text) ? text : null;
}

/** Returns the PIN in a data folder, and makes one if there is none. Only the agent's user may read it. */
export function ensurePin(folder: string): string {
  const known = readPin(folder);
  if (known !== null) return known;
  makePrivateFolder(folder);
  const pin = String(randomInt(10 ** DIGITS)).padStart(DIGITS, "0");
  fs.rmSync(pinFile(folder), { force: true });
  fs.writeFileSync(pinFile(folder), `${pin}\n`, { mode: 0o600 });
  return pin;
}

function pinFile(folder: string): string {
  return path.join(folder, "page-pin");
}
