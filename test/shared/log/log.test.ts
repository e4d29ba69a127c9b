import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { once } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import { createLog } from "../../../shared/log/log.ts";
import { RecentLog } from "../../../shared/log/recent-log.ts";
import { temporaryFolder, until } from "../../support/machine/processes.ts";

// Method: real descriptors that take nothing. /dev/full returns "no space left", and an unread pipe blocks.

const PIPE_FLAGS = fs.constants.O_RDWR | fs.constants.O_NONBLOCK;

function openPipe(): { fd: number; read: () => string } {
  const folder = temporaryFolder();
  const file = path.join(folder, "pipe");
  execFileSync("mkfifo", [file]);
  const fd = fs.openSync(file, PIPE_FLAGS);
  onTestFinished(() => {
    fs.closeSync(fd);
    fs.rmSync(folder, { recursive: true });
  });
  const buffer = Buffer.alloc(1 << 20);
  const read = () => {
    try {
      return buffer.toString("utf8", 0, fs.readSync(fd, buffer));
    } catch {
      return ""; // EAGAIN: empty
    }
  };
  return { fd, read };
}

test("an unread pipe blocks nothing, and once it is read a line reports the dropped lines", async () => {
  const { fd, read } = openPipe();
  const log = createLog({ base: null, timestamp: false }, {}, fd, 10);
  const text = "x".repeat(1_000);
  for (let line = 0; line < 3_000; line++) log.info({ line }, text);
  let out = "";
  await vi.waitFor(
    () => {
      out += read();
      if (!out.includes("log lines were dropped")) throw new Error(`${out.length} bytes came, expected a last line`);
    },
    { timeout: 20_000, interval: 2 },
  );
  const lines = out
    .split("\n")
    .filter((line) => line.endsWith("}"))
    .map((line) => JSON.parse(line) as { line?: number; lines?: number });
  const kept = lines.filter(({ line }) => line !== undefined).length;
  expect(kept).toBeGreaterThan(900);
  expect(lines.reduce((sum, { lines: dropped = 0 }) => sum + dropped, kept)).toBe(3_000);
});

test("an entry with control characters is one line of escapes with the same value, also in the file and in memory", async () => {
  const { fd, read } = openPipe();
  const file = path.join(temporaryFolder(), "agent.log");
  onTestFinished(() => fs.rmSync(path.dirname(file), { recursive: true }));
  const recent = new RecentLog();
  const text = "x\u001b[2J\u009b31m\u007f\r\n{}\u202egpj.exe\u2028\u061c";
  const log = createLog({ base: null, timestamp: false }, { file: { file, bytesMax: 1e6, keep: 1 }, recent }, fd, 10);
  log.warn({ userAgent: text }, text);
  const out = await until("a line", read);
  for (const copy of [out, fs.readFileSync(file, "utf8")]) {
    expect(copy.slice(0, -1)).not.toMatch(/[\p{Cc}\u061c\u202a-\u202e\u2066-\u2069\u2028]/u);
    expect(JSON.parse(copy)).toMatchObject({ userAgent: text, msg: text });
  }
});

test("a full disk does not stop the program or its exit", async () => {
  const script = `
    import { createLog } from ${JSON.stringify(path.resolve(import.meta.dirname, "../../../shared/log/log.ts"))};
    const log = createLog({}, {}, 1, 10);
    for (let line = 0; line < 3_000; line++) log.info("x".repeat(1_000));
    setTimeout(() => { log.info("later"); process.stderr.write("still here\\n"); process.exit(3); }, 100);
  `;
  const full = fs.openSync("/dev/full", "w");
  onTestFinished(() => fs.closeSync(full));
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", full, "pipe"],
  });
  let said = "";
  child.stderr?.on("data", (part: Buffer) => (said += part.toString()));
  const [code] = (await once(child, "close")) as [number];
  expect([said, code]).toEqual(["still here\n", 3]);
});
