import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FileLink } from "../../../../agent/protocols/file/file-link.ts";
import { fileHeader, readFileMessage } from "../../../../agent/protocols/file/file-message.ts";
import type { SetTimer } from "../../../../agent/runtime/timer.ts";
import type { LineState } from "../../../../agent/states/line-state.ts";
import { folderTransport } from "../../../../agent/transport/folder/folder-transport.ts";
import type { Transport } from "../../../../agent/transport/transport.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

// A folder on the disk, a link, and a clock of the test.

let folder: string;
let transport: Transport | null;
let nowMs: number;
let look: (() => void) | null;
let taken: string[];
let problems: string[];
let states: LineState["is"][];
/** Whether the link's bytes become durable. */
let isStoring: boolean;

beforeEach(() => {
  folder = temporaryFolder();
  [transport, nowMs, look, taken, problems, states, isStoring] = [null, 0, null, [], [], [], true];
});

afterEach(async () => {
  await transport?.close();
  fs.rmSync(folder, { recursive: true });
});

/** Opens the folder, and waits for the first look. */
async function watch({
  leave = false,
  bytesMax = 1000,
  at = folder,
  isWhole = (_name: string, _bytes: Uint8Array): boolean => true,
} = {}): Promise<void> {
  const setTimer: SetTimer = (ms, fire) => {
    // The other timer is the wait for a reply.
    if (ms > 3000) return () => undefined;
    look = fire;
    return () => (look = null);
  };
  transport = folderTransport(
    { path: at, extensions: ["csv"], leave, bytesMax, whenTooLarge: "export fewer lines", isWhole, header: fileHeader },
    { setTimer, monotonicMs: () => nowMs },
  );
  transport.open(
    (wire) => {
      const link = new FileLink(bytesMax);
      const carryOut = (chunk: Uint8Array) => {
        for (const action of isStoring ? link.receive(chunk) : link.refuse()) {
          if (action.do === "reply") wire.write(action.bytes);
          if (action.do === "close") wire.close();
          if (action.do !== "deliver") continue;
          const file = readFileMessage(action.message);
          taken.push(
            `${file?.name} ${Buffer.from(file?.bytes ?? [])
              .toString()
              .slice(0, 20)}`,
          );
        }
      };
      // As the connection does for a while: the next part waits for the disk.
      let isPaused = false;
      return {
        chunk(bytes) {
          if (isPaused) problems.push("a part came while the wire was paused");
          isPaused = true;
          wire.pause();
          setImmediate(() => {
            carryOut(bytes);
            isPaused = false;
            wire.resume();
          });
        },
        closed: () => link.close(),
      };
    },
    (reason) => problems.push(reason),
    ({ is }) => states.push(is),
  );
  await expect.poll(() => look).not.toBeNull();
}

/** Lets the agent look, three seconds after the last look each time. */
async function looks(count = 3): Promise<void> {
  for (let time = 0; time < count; time += 1) {
    await expect.poll(() => look).not.toBeNull();
    const next = look;
    [look, nowMs] = [null, nowMs + 3000];
    next?.();
  }
  await expect.poll(() => look).not.toBeNull();
}

const put = (name: string, content: string | Buffer) => fs.writeFileSync(path.join(folder, name), content);
const timeOf = (name: string) => new Date(fs.statSync(path.join(folder, name)).mtimeMs).toISOString();
const inFolder = (name = ".") => fs.readdirSync(path.join(folder, name)).toSorted();

test("a complete file is taken once with its name, and then moves", async () => {
  await watch();
  put("a.csv", "first");
  await looks();
  expect([taken, inFolder(), inFolder("done")]).toEqual([["a.csv first"], ["done"], ["a.csv"]]);
  // The same name with new content is another file, and takes nothing away.
  put("a.csv", "second");
  await looks(4);
  expect([taken, inFolder("done")]).toEqual([
    ["a.csv first", "a.csv second"],
    ["a (2).csv", "a.csv"],
  ]);
  expect(fs.readFileSync(path.join(folder, "done", "a (2).csv"), "utf8")).toBe("second");
  expect(problems).toEqual([]);
});

test("a file of several parts arrives whole", async () => {
  await watch({ bytesMax: 2_000_000 });
  put("a.csv", Buffer.alloc(1_000_000, "x"));
  await looks();
  await expect.poll(() => taken).toEqual([`a.csv ${"x".repeat(20)}`]);
  expect(problems).toEqual([]);
});

test("a half-written file that grows, an empty one, and one that is renamed into place wait for their end", async () => {
  await watch();
  put("a.csv", "Id;Na");
  put("b.csv", "");
  put("c.csv.tmp", "whole");
  await looks(2);
  fs.appendFileSync(path.join(folder, "a.csv"), "me\n");
  await looks(2);
  expect(taken).toEqual([]);
  fs.renameSync(path.join(folder, "c.csv.tmp"), path.join(folder, "c.csv"));
  put("b.csv", "filled");
  await looks(4);
  expect(taken.toSorted()).toEqual(["a.csv Id;Name\n", "b.csv filled", "c.csv whole"]);
});

test("a file without its end waits a minute for it, and is then taken as it is", async () => {
  await watch({ isWhole: (_name, bytes) => Buffer.from(bytes).toString().endsWith("</r>") });
  put("a.csv", "<r>half");
  put("b.csv", "<r>half");
  await looks(10);
  expect([taken, inFolder()]).toEqual([[], ["a.csv", "b.csv"]]);
  fs.appendFileSync(path.join(folder, "a.csv"), "</r>");
  await looks(4);
  expect([taken, inFolder("done")]).toEqual([["a.csv <r>half</r>"], ["a.csv"]]);
  await looks(20);
  expect(taken).toEqual(["a.csv <r>half</r>", "b.csv <r>half"]);
});

test("a file that another replaces by a rename is taken as the other", async () => {
  await watch();
  put("a.csv", "old");
  await looks(2);
  put("new.csv.tmp", "new");
  fs.utimesSync(path.join(folder, "new.csv.tmp"), 1, 1);
  fs.renameSync(path.join(folder, "new.csv.tmp"), path.join(folder, "a.csv"));
  await looks(2);
  expect(taken).toEqual([]);
  await looks(2);
  expect(taken).toEqual(["a.csv new"]);
});

test("a link, a folder, a file in a folder and other kinds of files are not read", async () => {
  const secret = path.join(temporaryFolder(), "secret.csv");
  fs.writeFileSync(secret, "secret");
  fs.symlinkSync(secret, path.join(folder, "link.csv"));
  fs.mkdirSync(path.join(folder, "folder.csv"));
  put("folder.csv/inner.csv", "inner");
  put("~$open.csv", "owner");
  put("a.pdf", "pdf");
  await watch();
  await looks(4);
  expect([taken, problems]).toEqual([[], []]);
  expect(inFolder()).toEqual(["a.pdf", "folder.csv", "link.csv", "~$open.csv"]);
});

test("a file that is too large is refused once with its remedy and without its name, and stays", async () => {
  await watch({ bytesMax: 4 });
  put("Pamuk Örnek.csv", "12345");
  await looks(6);
  expect(problems).toEqual([`a .csv file of ${timeOf("Pamuk Örnek.csv")} has 5 bytes, at most 4: export fewer lines`]);
  put("Pamuk Örnek.csv", "1234");
  await looks(4);
  expect(taken).toEqual(["Pamuk Örnek.csv 1234"]);
});

test("a file whose bytes are not durable stays, and is taken by a later look", async () => {
  await watch();
  put("a.csv", "first");
  isStoring = false;
  await looks(4);
  expect([taken, inFolder()]).toEqual([[], ["a.csv"]]);
  isStoring = true;
  await looks(1);
  expect([taken, inFolder("done")]).toEqual([["a.csv first"], ["a.csv"]]);
});

test("a file that cannot move is reported once, is not taken again, and moves later", async () => {
  await watch();
  put("done", "a file in place of the folder");
  put("a.csv", "first");
  const time = timeOf("a.csv");
  await looks(6);
  expect(taken).toEqual(["a.csv first"]);
  expect(problems).toEqual([
    `a .csv file of ${time} cannot be moved (EEXIST): close it in the other program, or let the agent's account write to the folder, or set leave: true`,
  ]);
  fs.rmSync(path.join(folder, "done"));
  await looks(1);
  expect([taken, inFolder(), inFolder("done")]).toEqual([["a.csv first"], ["done"], ["a.csv"]]);
});

test("with leave a file stays and is taken once, until it changes", async () => {
  await watch({ leave: true });
  put("a.csv", "first");
  await looks(6);
  expect([taken, inFolder()]).toEqual([["a.csv first"], ["a.csv"]]);
  fs.appendFileSync(path.join(folder, "a.csv"), " and more");
  await looks(4);
  expect(taken).toEqual(["a.csv first", "a.csv first and more"]);
});

test("a folder that is missing is a fault with its remedy, and is watched once it comes", async () => {
  const at = path.join(folder, "export");
  await watch({ at });
  await looks(2);
  expect(problems).toEqual([`no such folder ${at}: create it, or correct connection.folder of the device`]);
  expect(states).toEqual(["opening", "cannot open"]);
  fs.mkdirSync(at);
  fs.writeFileSync(path.join(at, "a.csv"), "first");
  await looks(4);
  expect(states.at(-1)).toBe("listening");
  expect(taken).toEqual(["a.csv first"]);
});
