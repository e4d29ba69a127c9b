import fs from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { asOwner } from "../../files/folder-owner.ts";
import { releaseName } from "../../files/program-files.ts";
import { SIGNATURE_BYTES_MAX, verifyFile } from "./minisign.ts";
import { ARCHIVE_BYTES_MAX, checkVersion } from "./prepare.ts";
import { unpack } from "./unpack.ts";
import { READ, versionFolder } from "./version-store.ts";

// The user of a service may change all files of its versions folder, so an administrator's command runs none of them. It unpacks the
// signed archive of the version once more, in a folder that only those may write who may write the program itself.

/** The start of a draft's name. The number of its process follows. */
const DRAFT = "draft-";

export interface CopyOrder {
  readonly program: "agent" | "server";
  readonly version: string;
  /** The versions folder of the service. */
  readonly folder: string;
  /** The folder of the copies, which belongs to the program that runs. */
  readonly copies: string;
  /** The key of releases that the program trusts. */
  readonly publicKey: string;
}

/** @returns the folder of the version's copy, which replaces the copies of other versions @throws Error with the reason */
export async function verifiedCopy(order: CopyOrder): Promise<string> {
  const { program, version, copies, publicKey } = order;
  const copy = path.join(copies, program, version);
  if (fs.existsSync(copy)) return copy;
  const name = releaseName(program, version);
  fs.mkdirSync(path.dirname(copy), { recursive: true, mode: 0o755 });
  removeLeftDrafts(copies);
  const draft = fs.mkdtempSync(path.join(copies, `${DRAFT}${process.pid}-`));
  try {
    const archive = await take(order, `${name}.tar.gz`, draft, ARCHIVE_BYTES_MAX);
    const signature = await take(order, `${name}.tar.gz.minisig`, draft, SIGNATURE_BYTES_MAX);
    await verifyFile(archive, path.basename(archive), fs.readFileSync(signature, "utf8"), publicKey);
    const unpacked = path.join(draft, version);
    await unpack(archive, name, unpacked);
    await checkVersion(unpacked, version);
    fs.chmodSync(unpacked, 0o755);
    for (const other of fs.readdirSync(path.dirname(copy))) {
      if (other !== version) fs.rmSync(path.join(path.dirname(copy), other), { recursive: true, force: true });
    }
    try {
      fs.renameSync(unpacked, copy);
    } catch (error) {
      // Another command may have made the same copy meanwhile, and runs it.
      if (!fs.existsSync(copy)) throw error;
    }
  } finally {
    fs.rmSync(draft, { recursive: true, force: true });
  }
  return copy;
}

/** Removes the drafts of commands that were killed. Those of a running process stay. */
function removeLeftDrafts(copies: string): void {
  for (const name of fs.readdirSync(copies)) {
    if (name.startsWith(DRAFT) && !isRunning(Number.parseInt(name.slice(DRAFT.length), 10))) {
      fs.rmSync(path.join(copies, name), { recursive: true, force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Copies a file of a version. The service may have put a link, a pipe or a larger file in its place. @returns the copy */
async function take({ folder, version }: CopyOrder, name: string, draft: string, bytesMax: number): Promise<string> {
  const copy = path.join(draft, name);
  const source = asOwner(folder, (here) => {
    const file = path.join(versionFolder(here, version), name);
    const isMissing = fs.lstatSync(file, { throwIfNoEntry: false }) === undefined;
    if (isMissing) throw new Error(`${name} is missing in ${folder}: install the package of ${version}`);
    return fs.openSync(file, READ);
  });
  const { size } = fs.fstatSync(source);
  const isPlain = fs.fstatSync(source).isFile() && size > 0 && size <= bytesMax;
  if (!isPlain) {
    fs.closeSync(source);
    throw new Error(`${name} in ${folder} is not the file of a release`);
  }
  await pipeline(fs.createReadStream("", { fd: source, end: size - 1 }), fs.createWriteStream(copy, { flags: "wx" }));
  return copy;
}
