import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { RESERVE_BYTES } from "../../../agent/spool/thread/room.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { RemoteSpool } from "../../../agent/spool/remote-spool.ts";
import { StorageError } from "../../../agent/spool/thread/storage-error.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

// Method: both ends of the port are in one thread.

async function openLine(bytesMax?: number) {
  const folder = temporaryFolder();
  let commits = 0;
  const limit = bytesMax === undefined ? {} : { bytesMax };
  const spool = await Spool.open(folder, { ...limit, onCommit: () => (commits += 1) });
  onTestFinished(async () => {
    await spool.close();
    fs.rmSync(folder, { recursive: true });
  });
  const port = spool.openPort();
  return { folder, spool, line: new RemoteSpool(port), commits: () => commits };
}

test("calls of another thread run in order and share the commits of local calls", async () => {
  const { folder, spool, line, commits } = await openLine();
  await spool.call("setMeta", "key", "0");
  const before = commits();
  // While another connection writes, the calls queue up before the worker.
  const other = new Database(path.join(folder, "spool.db"));
  other.exec("BEGIN IMMEDIATE");
  const first = line.call("setMeta", "key", "1");
  await new Promise((resolve) => setTimeout(resolve, 50));
  const rest = [2, 3, 4].flatMap((number) => [
    line.call("setMeta", "key", String(number)),
    spool.call("setMeta", "other", String(number)),
    line.call("getMeta", "key"),
  ]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  other.exec("COMMIT");
  other.close();
  await first;
  const values = await Promise.all(rest);
  expect(values.filter((_, place) => place % 3 === 2)).toEqual(["2", "3", "4"]);
  expect(await spool.call("getMeta", "other")).toBe("4");
  // The first call, all others, and the last read. On a busy machine the others come in time to share the first commit.
  expect(commits() - before).toBeLessThanOrEqual(3);
});

test("a failed call is reported to its caller, and a full disk to both threads", async () => {
  const { spool, line } = await openLine(1_000_000);
  const nothing = undefined as unknown as string;
  const [failed, fine] = await Promise.allSettled([line.call("setMeta", nothing, "1"), line.call("getMeta", "key")]);
  expect(failed).toMatchObject({ status: "rejected", reason: expect.any(Error) });
  expect(fine).toEqual({ status: "fulfilled", value: null });
  expect(spool.problem).toBe(null);
  await expect(line.call("setMeta", "key", "x".repeat(1_000_000 + RESERVE_BYTES))).rejects.toThrow(StorageError);
  await expect.poll(() => spool.problem).toMatch(/full/);
  await line.call("setMeta", "key", "room");
  expect(await spool.call("getMeta", "key")).toBe("room");
});
