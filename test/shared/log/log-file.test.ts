import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createLog } from "../../../shared/log/log.ts";
import { LogFile } from "../../../shared/log/log-file.ts";
import { RecentLog } from "../../../shared/log/recent-log.ts";
import { temporaryFolder, until } from "../../support/machine/processes.ts";
import { canMount, mountDisk } from "../../support/machine/small-disk.ts";

function folder(): string {
  const made = temporaryFolder();
  onTestFinished(() => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

const nothing = () => undefined;

test("a log file starts again at its size, and the newest of the older ones stay", () => {
  const file = path.join(folder(), "logs", "agent.log");
  const log = new LogFile({ file, bytesMax: 20, keep: 2 }, nothing, 1000);
  for (let line = 1; line <= 9; line++) log.write(`line ${line}.\n`);
  const contents = ["", ".1", ".2"].map((suffix) => fs.readFileSync(file + suffix, "utf8"));
  expect(contents).toEqual(["line 9.\n", "line 7.\nline 8.\n", "line 5.\nline 6.\n"]);
  expect(fs.readdirSync(path.dirname(file)).toSorted()).toEqual(["agent.log", "agent.log.1", "agent.log.2"]);
  expect((fs.statSync(file).mode & 0o777).toString(8)).toBe("600");
});

test("the next start appends to a log file and counts what is there", () => {
  const file = path.join(folder(), "agent.log");
  const options = { file, bytesMax: 20, keep: 1 };
  for (let start = 1; start <= 3; start++) new LogFile(options, nothing, 1000).write(`start ${start}\n`);
  expect(["", ".1"].map((suffix) => fs.readFileSync(file + suffix, "utf8"))).toEqual([
    "start 3\n",
    "start 1\nstart 2\n",
  ]);
});

test("without older files the log file stays within its size", () => {
  const file = path.join(folder(), "agent.log");
  const log = new LogFile({ file, bytesMax: 10, keep: 0 }, nothing, 1000);
  for (let line = 1; line <= 3; line++) log.write(`line ${line}.\n`);
  expect(fs.readdirSync(path.dirname(file))).toEqual(["agent.log"]);
  expect(fs.readFileSync(file, "utf8")).toBe("line 3.\n");
});

test.skipIf(!canMount())("a full disk is reported once, stops nothing, and leaves complete lines", async () => {
  const disk = folder();
  mountDisk(disk, 1);
  onTestFinished(() => void execFileSync("umount", ["-l", disk]));
  const [file, filler] = [path.join(disk, "agent.log"), path.join(disk, "filler")];
  const stdout = fs.openSync("/dev/null", "w");
  const recent = new RecentLog();
  const log = createLog(
    { base: null, timestamp: false },
    { file: { file, bytesMax: 1e7, keep: 1 }, recent },
    stdout,
    50,
  );
  log.info({ n: 0 }, "first");
  fs.writeFileSync(filler, Buffer.alloc(1024 * 1024 - 8192 - 4096));
  for (let n = 1; n <= 300; n++) log.info({ n }, "x".repeat(100));
  await until("the notice", () => recent.lines.some((line) => line.includes("make room on its disk")));
  for (let n = 301; n <= 310; n++) log.info({ n }, "still here");
  fs.rmSync(filler);
  await new Promise((resolve) => setTimeout(resolve, 60));
  log.info({ n: 311 }, "last");
  await until("the second notice", () => recent.lines.some((line) => line.includes("is written again")));
  const lines = fs.readFileSync(file, "utf8").trim().split("\n");
  const numbers = lines.map((line) => (JSON.parse(line) as { n?: number }).n);
  expect(numbers[0]).toBe(0);
  expect(numbers).toContain(311);
  expect(numbers).not.toContain(305);
  expect(recent.lines.filter((line) => line.includes("make room on its disk")).length).toBe(1);
});

test("the last 500 lines stay in memory", () => {
  const recent = new RecentLog();
  for (let line = 1; line <= 503; line++) recent.add(`${line}\n`);
  expect([recent.lines.length, recent.lines[0], recent.lines.at(-1)]).toEqual([500, "4", "503"]);
});
