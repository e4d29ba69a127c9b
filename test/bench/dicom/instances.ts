import fs from "node:fs";
import path from "node:path";
import type { Element } from "../../../agent/protocols/dicom/encode.ts";
import type * as part10 from "../../../agent/protocols/dicom/part10.ts";
import { run } from "../../support/protocols/dcmtk.ts";
import { CR_STORAGE, dataset, EXPLICIT } from "../../support/protocols/dicom.ts";
import { fromBuild } from "../build.ts";

const PIECE_BYTES = 8 * 1024 * 1024;

/** Builds a file with that many bytes of pixels, all equal to the last component of its UID. */
export async function writeInstance(folder: string, uid: string, bytes: number): Promise<void> {
  const { encodeFileHead } = await fromBuild<typeof part10>("agent/protocols/dicom/part10.ts");
  const head = encodeFileHead({ sopClass: CR_STORAGE, sopInstance: uid, transferSyntax: EXPLICIT, sourceAe: "BENCH" });
  const series: Element = [0x0020_000e, "UI", "1.2.3.0"];
  const start = Buffer.concat([head, dataset(uid, [series, [0x7fe0_0010, "OW", new Uint8Array(0)]])]);
  start.writeUInt32LE(bytes, start.length - 4);
  const file = fs.openSync(path.join(folder, `${uid}.dcm`), "wx");
  fs.writeSync(file, start);
  const pixels = new Uint8Array(PIECE_BYTES).fill(Number(uid.split(".").at(-1)) & 0xff);
  for (let left = bytes; left > 0; left -= PIECE_BYTES) fs.writeSync(file, pixels, 0, Math.min(left, PIECE_BYTES));
  fs.closeSync(file);
}

/** @returns the seconds until every file of a folder, or the one file, has its response */
export async function send(port: number, what: string): Promise<number> {
  const from = performance.now();
  const { ok, output } = await run("storescu", "+sd", "-aec", "VETWIRE", "127.0.0.1", String(port), what);
  if (!ok) throw new Error(`storescu: ${output}`);
  return (performance.now() - from) / 1000;
}
