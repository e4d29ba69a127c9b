import path from "node:path";
import type { DiskCall, Tree } from "./disk-call.ts";

// Reads the log of `strace -f -ttt -y -xx`: which calls changed a folder. Writes through a map (SQLite's -shm file) are missing;
// SQLite makes that file again after a crash.

export const TRACED = [
  ...["openat", "open", "creat", "close", "write", "pwrite64", "writev", "pwritev", "ftruncate", "fsync", "fdatasync"],
  ...["rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "link", "linkat", "lseek"],
  ...["sendfile", "copy_file_range", "fallocate"],
];
/** Longest string in the log of a program that runs. Only the file `reserve` has longer ones, whose content does not matter. */
export const STRING_BYTES = 300_000;
/** Longest string in the log of a command, which copies files in longer pieces. */
export const LONG_STRING_BYTES = 1_100_000;
/** Ends the path of a removed file that is still open. */
const DELETED = " (deleted)";
const CUT_STRING = '"...';

interface Call {
  readonly name: string;
  readonly args: string;
  readonly result: number;
  /** Start, in ms since 1970. */
  readonly at: number;
  /** Number of disk calls that had ended when this one started. */
  readonly before: number;
}

interface Started {
  readonly name: string;
  readonly args: string;
  readonly at: number;
  readonly before: number;
}

/** @throws Error for a call that changes files in a way the model does not know */
export function readLog(lines: Iterable<string>, root: string, initial: Tree): DiskCall[] {
  const reader = new LogReader(root, initial);
  for (const line of lines) reader.read(line);
  return reader.calls;
}

class LogReader {
  readonly calls: DiskCall[] = [];
  readonly #root: string;
  readonly #started = new Map<string, Started>();
  /** The file at each path, as the program sees it. */
  readonly #files = new Map<string, number>();
  /** The file and position of each open descriptor, by its number and path: a child process has numbers of its own. */
  readonly #open = new Map<string, { readonly file: number; at: number }>();
  #nextFile = 1;

  constructor(root: string, initial: Tree) {
    this.#root = root;
    for (const [name, content] of initial) if (content !== null) this.#files.set(name, this.#nextFile++);
  }

  read(line: string): void {
    const [, thread, seconds, resumed, tail, name, rest] =
      /^(\d+) +(\d+\.\d+) (?:<\.\.\. (\w+) resumed>(.*)|(\w+)\((.*))$/s.exec(line) ?? [];
    if (thread === undefined) return;
    if (resumed !== undefined) {
      const started = this.#started.get(thread);
      this.#started.delete(thread);
      if (started !== undefined) this.#end({ ...started, args: started.args + tail! });
      return;
    }
    const started = { name: name!, args: rest!, at: Number(seconds) * 1_000, before: this.calls.length };
    const isUnfinished = rest!.endsWith("<unfinished ...>");
    if (isUnfinished) this.#started.set(thread, { ...started, args: rest!.slice(0, -"<unfinished ...>".length) });
    else this.#end(started);
  }

  #end({ name, args, at, before }: Started): void {
    const end = args.lastIndexOf(") = ");
    const result = Number.parseInt(args.slice(end + 4), 10);
    if (end < 0 || !(result >= 0)) return;
    this.#add({ name, args: args.slice(0, end).trimEnd(), result, at, before });
  }

  #add(call: Call): void {
    const { name, args, result, at, before } = call;
    const paths = pathsOf(args).map((text) => this.#inRoot(text));
    const [first = null, second = null] = paths;
    switch (name) {
      case "open":
      case "openat":
      case "creat":
        if (first !== null) this.#opened(first, args, result, at);
        return;
      case "mkdir":
      case "mkdirat":
        if (first !== null) this.calls.push({ is: "folder", path: first, at });
        return;
      case "rename":
      case "renameat":
      case "renameat2":
        if (first !== null && second !== null) this.#renamed(first, second, at);
        return;
      case "link":
      case "linkat":
        if (first !== null && second !== null) this.#linked(first, second, at);
        return;
      case "unlink":
      case "unlinkat":
      case "rmdir":
        if (first === null) return;
        this.calls.push({ is: "remove", path: first, at });
        this.#files.delete(first);
        return;
      case "fsync":
      case "fdatasync": {
        const place = this.#descriptor(args);
        if (place === null) return;
        const file = this.#open.get(place.key)?.file;
        if (file !== undefined) this.calls.push({ is: "sync", file, calls: before, at });
        else this.calls.push({ is: "sync folder", path: place.path, calls: before, at });
        return;
      }
      default:
        this.#content(call);
    }
  }

  #content({ name, args, result, at }: Call): void {
    const place = this.#descriptor(args);
    if (place === null) return;
    const open = this.#open.get(place.key);
    if (name === "close") return void this.#open.delete(place.key);
    if (open === undefined) {
      const isHarmless = name === "lseek" || place.path.endsWith(DELETED);
      if (isHarmless) return;
      throw new Error(`the disk model does not know the file of ${name}(${place.key})`);
    }
    switch (name) {
      case "lseek":
        open.at = result;
        return;
      case "ftruncate":
        this.calls.push({ is: "truncate", file: open.file, length: Number(/, (\d+)$/.exec(args)?.[1]), at });
        return;
      case "write":
      case "writev":
        this.#write(open.file, open.at, args, result, at);
        open.at += result;
        return;
      case "pwrite64":
      case "pwritev":
        this.#write(open.file, Number(/, (\d+)$/.exec(args)?.[1]), args, result, at);
        return;
      default:
        throw new Error(`the disk model does not know ${name}(${args.slice(0, 200)})`);
    }
  }

  #write(file: number, offset: number, args: string, length: number, at: number): void {
    if (args.includes(CUT_STRING)) {
      const [name] = [...this.#files].find(([, id]) => id === file) ?? [];
      if (name !== undefined && !/(^|\/)reserve(\.part)?$/.test(name))
        throw new Error(`a write to ${name} is too long`);
      return;
    }
    const bytes = Buffer.concat(bytesOf(args)).subarray(0, length);
    if (bytes.length !== length)
      throw new Error(`expected ${length} bytes, got ${bytes.length}: ${args.slice(0, 200)}`);
    this.calls.push({ is: "write", file, offset, bytes, at });
  }

  #renamed(from: string, to: string, at: number): void {
    this.calls.push({ is: "rename", path: from, to, at });
    this.#files.delete(to);
    // A renamed folder takes its content with it.
    for (const [name, file] of this.#files) {
      if (name !== from && !name.startsWith(from + path.sep)) continue;
      this.#files.delete(name);
      this.#files.set(to + name.slice(from.length), file);
    }
  }

  #linked(from: string, to: string, at: number): void {
    this.calls.push({ is: "link", path: from, to, at });
    this.#files.set(to, this.#files.get(from)!);
  }

  #opened(name: string, args: string, descriptor: number, at: number): void {
    if (args.includes("O_APPEND")) throw new Error(`the disk model does not know how to append to ${name}`);
    let file = this.#files.get(name);
    if (file === undefined) {
      if (!/O_CREAT/.test(args)) return; // a folder
      file = this.#nextFile++;
      this.#files.set(name, file);
      this.calls.push({ is: "create", path: name, file, at });
    } else if (args.includes("O_TRUNC")) this.calls.push({ is: "truncate", file, length: 0, at });
    this.#open.set(`${descriptor} ${name}`, { file, at: 0 });
  }

  /** The descriptor of the first argument; null outside the folder and for a removed file. */
  #descriptor(args: string): { readonly key: string; readonly path: string } | null {
    const [, number, name] = /^(\d+)<((?:\\x[0-9a-f]{2})+)>/.exec(args) ?? [];
    const at = name === undefined ? null : this.#inRoot(decode(name).toString());
    return at === null ? null : { key: `${number} ${at}`, path: at };
  }

  /** The path within the folder; "" for the folder itself. */
  #inRoot(text: string): string | null {
    const relative = path.relative(this.#root, text);
    return relative.startsWith("..") || path.isAbsolute(relative) ? null : relative;
  }
}

function decode(text: string): Buffer {
  return Buffer.from(text.replaceAll("\\x", ""), "hex");
}

function bytesOf(args: string): Buffer[] {
  return [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, text]) => decode(text!));
}

/** The paths among the arguments. A path of the calls with -at starts at a folder. */
function pathsOf(args: string): string[] {
  const found = args.slice(0, 4_000).matchAll(/(?:<((?:\\x[0-9a-f]{2})*)>, )?"((?:\\x[0-9a-f]{2})*)"/g);
  return [...found]
    .slice(0, 2)
    .map(([, folder = "", text]) => path.resolve(decode(folder).toString(), decode(text!).toString()));
}
