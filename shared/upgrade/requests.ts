import fs from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { errorMessage } from "../runtime/error-message.ts";
import type { FetchFile } from "./prepare.ts";
import type { UpgradeOrder, Upgrader } from "./upgrader.ts";

// `vetwire upgrade` and the running service talk through files of the versions folder: only users who may write there can ask.

/** The question, in request.json. */
interface UpgradeRequest {
  readonly id: string;
  /** Null for the version that the server wants. */
  readonly version: string | null;
  /** Whether archive and signature lie in the folder `incoming`. Otherwise the service fetches them. */
  readonly isIncoming: boolean;
  readonly isDryRun: boolean;
}

/** The answer so far, in answer.json. */
export interface UpgradeAnswer {
  readonly id: string;
  readonly version: string;
  readonly sentences: readonly string[];
  readonly is: "under way" | "done" | "refused";
}

const REQUEST = "request.json";
const ANSWER = "answer.json";
const INCOMING = "incoming";
const POLL_MS = 1_000;

/** The source of a release that nobody brought. */
export interface ReleaseSource {
  readonly fetch: FetchFile;
  /** The version that the server wants; null for none. */
  wanted(): string | null;
}

/** Carries out the requests that appear in the versions folder, until the process ends. */
export function serveRequests(folder: string, upgrader: Upgrader, source: ReleaseSource): void {
  setInterval(() => {
    const request = takeRequest(folder);
    if (request !== null) void answer(folder, request, upgrader, source);
  }, POLL_MS).unref();
}

function takeRequest(folder: string): UpgradeRequest | null {
  const file = path.join(folder, REQUEST);
  try {
    const request = JSON.parse(fs.readFileSync(file, "utf8")) as UpgradeRequest;
    fs.rmSync(file);
    return request;
  } catch {
    // Without a request, which is nearly always.
    return null;
  }
}

async function answer(
  folder: string,
  request: UpgradeRequest,
  upgrader: Upgrader,
  source: ReleaseSource,
): Promise<void> {
  const { id, isIncoming, isDryRun } = request;
  const version = request.version ?? source.wanted() ?? "";
  const sentences: string[] = [];
  const write = (is: UpgradeAnswer["is"]) => {
    try {
      replaceFile(folder, ANSWER, { id, version, sentences, is } satisfies UpgradeAnswer);
    } catch {
      // A full disk. The log has the same sentences.
    }
  };
  const say = (sentence: string) => {
    sentences.push(sentence);
    write("under way");
  };
  const incoming = path.join(folder, INCOMING);
  const order: UpgradeOrder = { version, isDryRun, fetch: isIncoming ? fetchFrom(incoming) : source.fetch };
  try {
    if (version === "") throw new Error("the server wants no version for this machine: name one with --version");
    await upgrader.upgrade(order, say);
    write("done");
  } catch (error) {
    sentences.push(errorMessage(error));
    write("refused");
  } finally {
    fs.rmSync(incoming, { recursive: true, force: true });
  }
}

function fetchFrom(incoming: string): FetchFile {
  return async (name, file, bytesMax) => {
    const source = path.join(incoming, name);
    const { size } = fs.statSync(source);
    if (size > bytesMax) throw new Error(`${name} has ${size} bytes, at most ${bytesMax}`);
    await pipeline(fs.createReadStream(source), fs.createWriteStream(file));
  };
}

/** Asks the service of a versions folder. `archive` lies on this machine, its signature beside it; null lets the service fetch it. */
export function askService(
  folder: string,
  version: string | null,
  archive: string | null,
  isDryRun: boolean,
): { readonly answer: () => UpgradeAnswer | null; readonly withdraw: () => boolean } {
  const id = `${process.pid}-${Date.now()}`;
  if (archive !== null) {
    const incoming = path.join(folder, INCOMING);
    fs.rmSync(incoming, { recursive: true, force: true });
    fs.mkdirSync(incoming, { mode: 0o700 });
    for (const file of [archive, `${archive}.minisig`]) copyTo(incoming, file);
    ownAs(folder, (uid, gid) => fs.lchownSync(incoming, uid, gid));
  }
  const request: UpgradeRequest = { id, version, isIncoming: archive !== null, isDryRun };
  replaceFile(folder, REQUEST, request);
  return {
    answer() {
      const found = readAnswer(folder);
      return found?.id === id ? found : null;
    },
    /** @returns false if the service has taken the request */
    withdraw() {
      const file = path.join(folder, REQUEST);
      if (!fs.existsSync(file)) return false;
      fs.rmSync(file, { force: true });
      fs.rmSync(path.join(folder, INCOMING), { recursive: true, force: true });
      return true;
    },
  };
}

function readAnswer(folder: string): UpgradeAnswer | null {
  try {
    return JSON.parse(fs.readFileSync(path.join(folder, ANSWER), "utf8")) as UpgradeAnswer;
  } catch {
    return null;
  }
}

function copyTo(folder: string, file: string): void {
  const copy = path.join(folder, path.basename(file));
  fs.copyFileSync(file, copy, fs.constants.COPYFILE_EXCL);
  ownAs(folder, (uid, gid) => fs.lchownSync(copy, uid, gid));
}

/** Replaces a file whole. A file that root writes belongs to the service, whose folder it is. */
function replaceFile(folder: string, name: string, value: unknown): void {
  const part = path.join(folder, `${name}.part`);
  fs.rmSync(part, { force: true });
  const handle = fs.openSync(part, "wx", 0o600);
  try {
    fs.writeFileSync(handle, `${JSON.stringify(value)}\n`);
    ownAs(folder, (uid, gid) => fs.fchownSync(handle, uid, gid));
  } finally {
    fs.closeSync(handle);
  }
  fs.renameSync(part, path.join(folder, name));
}

function ownAs(folder: string, change: (uid: number, gid: number) => void): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = fs.statSync(folder);
  change(uid, gid);
}
