import fs from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { type Static, Type } from "typebox";
import { compareVersions, RELEASE_WORD_CHARS_MAX } from "../../api/upgrade.ts";
import { errorMessage } from "../../runtime/error-message.ts";
import { asOwner } from "../../files/folder-owner.ts";
import type { FetchFile } from "./prepare.ts";
import type { UpgradeOrder, Upgrader } from "./upgrader.ts";
import { readJson } from "./version-store.ts";
import { compileLater } from "../../schema/compile-later.ts";

// `vetwire upgrade` and the running service exchange files in the versions folder: only users who may write there can request an
// upgrade.

/** The question, in request.json. */
const UpgradeRequest = Type.Object({
  id: Type.String({ pattern: "^\\d{1,20}-\\d{1,20}$" }),
  /** Null for the version that the server wants. */
  version: Type.Union([Type.String(), Type.Null()]),
  /** Whether archive and signature lie in the folder `incoming-<id>`. Otherwise the service fetches them. */
  isIncoming: Type.Boolean(),
  isDryRun: Type.Boolean(),
});
type UpgradeRequest = Static<typeof UpgradeRequest>;

const upgradeRequest = compileLater(UpgradeRequest);

/** The response so far, in answer.json. */
export interface UpgradeAnswer {
  readonly id: string;
  readonly version: string;
  readonly sentences: readonly string[];
  readonly is: "under way" | "done" | "refused";
}

const REQUEST = "request.json";
const ANSWER = "answer.json";
/** Starts the name of the folder with the release of one request. */
const INCOMING = "incoming-";
const POLL_MS = 1_000;

/** The source of a release that nobody brought. */
export interface ReleaseSource {
  readonly fetch: FetchFile;
  /** The version that the server wants; null for none. */
  wanted(): string | null;
}

/** Carries out the requests that appear in the versions folder, one after the other, until the process ends. */
export function serveRequests(folder: string, upgrader: Pick<Upgrader, "upgrade">, source: ReleaseSource): void {
  removeLeftovers(folder);
  let isBusy = false;
  setInterval(() => {
    const request = isBusy ? null : takeRequest(folder);
    if (request === null) return;
    isBusy = true;
    void answer(folder, request, upgrader, source).finally(() => (isBusy = false));
  }, POLL_MS).unref();
}

/** Removes releases of requests that an earlier process left. */
function removeLeftovers(folder: string): void {
  const waiting = readRequest(folder);
  try {
    for (const name of fs.readdirSync(folder)) {
      if (!name.startsWith(INCOMING) || name === `${INCOMING}${waiting?.id}`) continue;
      fs.rmSync(path.join(folder, name), { recursive: true, force: true });
    }
  } catch {
    // They take room, and nothing else.
  }
}

function takeRequest(folder: string): UpgradeRequest | null {
  const file = path.join(folder, REQUEST);
  if (!fs.existsSync(file)) return null;
  const request = readRequest(folder);
  try {
    fs.rmSync(file);
    return request;
  } catch {
    // Withdrawn meanwhile, or not removable: then it would be carried out again and again.
    return null;
  }
}

function readRequest(folder: string): UpgradeRequest | null {
  const found = readJson(folder, REQUEST);
  return upgradeRequest.Check(found) ? found : null;
}

async function answer(
  folder: string,
  request: UpgradeRequest,
  upgrader: Pick<Upgrader, "upgrade">,
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
  const incoming = path.join(folder, `${INCOMING}${id}`);
  const fetch = isIncoming ? fetchFrom(incoming) : source.fetch;
  const order: UpgradeOrder = { version, isDryRun, fetch, byPerson: true };
  try {
    if (version === "") throw new Error("the server wants no version for this machine: name one with --version");
    // The upgrader would record it, and heartbeats would carry it: the server takes no such text.
    if (Number.isNaN(compareVersions(version, version))) {
      throw new Error(
        `${version.slice(0, RELEASE_WORD_CHARS_MAX)} is not a version: name three numbers, such as 0.2.0`,
      );
    }
    await upgrader.upgrade(order, say);
    write("done");
  } catch (error) {
    sentences.push(errorMessage(error));
    write("refused");
  } finally {
    // Windows keeps a file that a scanner has open. The next process removes what is left.
    const options = { recursive: true, force: true, maxRetries: 5 };
    await fs.promises.rm(incoming, options).catch(() => undefined);
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

/**
 * Sends a request to the service of a versions folder. `archive` is on this machine, next to its signature; null lets the service
 * fetch it.
 */
export function askService(
  folder: string,
  version: string | null,
  archive: string | null,
  isDryRun: boolean,
): { readonly answer: () => UpgradeAnswer | null; readonly withdraw: () => boolean } {
  const id = `${process.pid}-${Date.now()}`;
  const request: UpgradeRequest = { id, version, isIncoming: archive !== null, isDryRun };
  // The user of the service may be unable to read the archive.
  const sources = (archive === null ? [] : [archive, `${archive}.minisig`]).map((file) => ({
    name: path.basename(file),
    handle: fs.openSync(file, "r"),
  }));
  try {
    inVersions(folder, (place) => {
      if (fs.existsSync(path.join(place, REQUEST))) {
        throw new Error(
          'another request waits: start the service with "vetwire service start", or try again in a minute',
        );
      }
      const incoming = path.join(place, `${INCOMING}${id}`);
      try {
        if (archive !== null) fs.mkdirSync(incoming, { mode: 0o700 });
        for (const { name, handle } of sources) copyTo(path.join(incoming, name), handle);
        replaceFile(place, REQUEST, request);
      } catch (error) {
        fs.rmSync(incoming, { recursive: true, force: true });
        throw error;
      }
    });
  } finally {
    for (const { handle } of sources) fs.closeSync(handle);
  }
  return {
    answer() {
      const found = readJson(folder, ANSWER) as UpgradeAnswer | null;
      return found?.id === id ? found : null;
    },
    /** @returns false if the service has taken the request */
    withdraw() {
      return inVersions(folder, (place) => {
        if (readRequest(place)?.id !== id) return false;
        fs.rmSync(path.join(place, REQUEST), { force: true });
        fs.rmSync(path.join(place, `${INCOMING}${id}`), { recursive: true, force: true });
        return true;
      });
    },
  };
}

/**
 * Changes the versions folder, for root with the rights of its owner alone: the service may put a link in the place of any name
 * at any moment. `change` gets the folder's path, which holds until it returns.
 * @throws Error if the folder is a link, or belongs to another user than the folder around it
 */
function inVersions<Result>(versions: string, change: (place: string) => Result): Result {
  // Resolved without a slash at the end, because lstat would follow a link with one.
  const folder = path.resolve(versions);
  const named = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (named?.isDirectory() !== true)
    throw new Error(`${folder} is not a folder: remove it, and start the service again`);
  return asOwner(folder, (place) => {
    const { dev, ino, uid } = fs.statSync(place);
    const isSame = dev === named.dev && ino === named.ino;
    if (!isSame || fs.statSync(path.join(place, "..")).uid !== uid) {
      throw new Error(`${folder} has another owner than the folder around it: give both to the user of the service`);
    }
    return change(place);
  });
}

function copyTo(copy: string, source: number): void {
  const target = fs.openSync(copy, "wx", 0o600);
  try {
    const bytes = Buffer.alloc(1024 ** 2);
    for (let count = fs.readSync(source, bytes); count > 0; count = fs.readSync(source, bytes)) {
      fs.writeFileSync(target, bytes.subarray(0, count));
    }
  } finally {
    fs.closeSync(target);
  }
}

/** Replaces a file in one rename. */
function replaceFile(folder: string, name: string, value: unknown): void {
  const part = path.join(folder, `${name}.part`);
  fs.rmSync(part, { force: true });
  fs.writeFileSync(part, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: "wx" });
  fs.renameSync(part, path.join(folder, name));
}
