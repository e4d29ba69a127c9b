import { describe, expect, test } from "vitest";
import { type Dice, diceOf } from "../../support/runner/dice.ts";
import type { DiskCall } from "./disk-call.ts";
import { Disk } from "./disk-model.ts";

// Method: each disk is seen after many cuts of the power; the test compares the set of contents.

const at = 0;
const FIRST = Buffer.alloc(1_024, "a");
const SECOND = Buffer.alloc(1_024, "b");
const write = (file: number, offset: number, bytes: Buffer): DiskCall => ({ is: "write", file, offset, bytes, at });
const create = (file: number, path: string): DiskCall => ({ is: "create", file, path, at });

/** The different trees after 200 cuts, each as text. */
function treesAfter(calls: readonly DiskCall[], initial = new Map<string, Buffer | null>()): Set<string> {
  const disk = new Disk(calls, initial);
  disk.advance(calls.length);
  const dice: Dice = diceOf(7);
  const shown = (bytes: Buffer | null) => (bytes === null ? "/" : bytes.toString().replaceAll(/(.)\1*/gs, runLength));
  const trees = Array.from({ length: 200 }, () => disk.afterCut(dice));
  return new Set(trees.map((tree) => [...tree].map(([name, bytes]) => `${name}=${shown(bytes)}`).join(" ")));
}

function runLength(run: string, letter: string): string {
  return `${letter === "\0" ? "0" : letter}${run.length}`;
}

const synced: DiskCall[] = [
  create(1, "f"),
  { is: "sync folder", path: "", calls: 1, at },
  write(1, 0, FIRST),
  { is: "sync", file: 1, calls: 3, at },
];

describe("bytes", () => {
  test("synced bytes survive every cut", () => {
    expect(treesAfter(synced)).toEqual(new Set(["f=a1024"]));
  });

  test("an unsynced write is lost, kept, or torn at its sectors", () => {
    expect(treesAfter([...synced, write(1, 0, SECOND)])).toEqual(
      new Set(["f=a1024", "f=b1024", "f=a512b512", "f=b512a512"]),
    );
  });

  test("of two unsynced writes the later one may survive alone", () => {
    const trees = treesAfter([...synced, write(1, 1_024, FIRST), write(1, 2_048, SECOND)]);
    expect(trees).toContain("f=a102401024b1024");
  });

  test("a write that had not ended before the sync started is not durable", () => {
    const calls: DiskCall[] = [...synced, write(1, 0, SECOND), { is: "sync", file: 1, calls: 4, at }];
    expect(treesAfter(calls)).toContain("f=a1024");
  });

  test("an unsynced truncation is lost or kept", () => {
    expect(treesAfter([...synced, { is: "truncate", file: 1, length: 10, at }])).toEqual(new Set(["f=a1024", "f=a10"]));
  });
});

describe("names", () => {
  test("a synced file whose folder was not synced is lost or kept", () => {
    const calls: DiskCall[] = [create(1, "f"), write(1, 0, FIRST), { is: "sync", file: 1, calls: 2, at }];
    expect(treesAfter(calls)).toEqual(new Set(["", "f=a1024"]));
  });

  test("a file in a folder whose own name is lost is lost with it", () => {
    const calls: DiskCall[] = [
      { is: "folder", path: "d", at },
      create(1, "d/f"),
      { is: "sync folder", path: "d", calls: 2, at },
    ];
    expect(treesAfter(calls)).toEqual(new Set(["", "d=/ d/f="]));
  });

  test("a renamed file has its old name or its new one", () => {
    const calls: DiskCall[] = [...synced, { is: "rename", path: "f", to: "g", at }];
    expect(treesAfter(calls)).toEqual(new Set(["f=a1024", "g=a1024"]));
  });

  test("a file that was removed from a renamed folder is missing also under the folder's old name", () => {
    const calls: DiskCall[] = [
      { is: "folder", path: "d", at },
      create(1, "d/f"),
      { is: "sync folder", path: "", calls: 1, at },
      { is: "sync folder", path: "d", calls: 2, at },
      { is: "rename", path: "d", to: "e", at },
      { is: "remove", path: "e/f", at },
    ];
    expect(treesAfter(calls)).toEqual(new Set(["d=/ d/f=", "e=/ e/f=", "d=/", "e=/"]));
  });

  test("a rename into another folder is kept by a sync of either folder", () => {
    const calls: DiskCall[] = [
      ...synced,
      { is: "folder", path: "d", at },
      { is: "sync folder", path: "", calls: 5, at },
      { is: "rename", path: "f", to: "d/f", at },
    ];
    expect(treesAfter(calls)).toEqual(new Set(["f=a1024 d=/", "d=/ d/f=a1024"]));
    for (const folder of ["", "d"])
      expect(treesAfter([...calls, { is: "sync folder", path: folder, calls: 7, at }])).toEqual(
        new Set(["d=/ d/f=a1024"]),
      );
  });

  test("a file with two names keeps the synced one", () => {
    const calls: DiskCall[] = [...synced, { is: "link", path: "f", to: "g", at }];
    expect(treesAfter(calls)).toEqual(new Set(["f=a1024", "f=a1024 g=a1024"]));
  });

  test("an unsynced removal is lost or kept, and a synced one is kept", () => {
    const removed: DiskCall[] = [...synced, { is: "remove", path: "f", at }];
    expect(treesAfter(removed)).toEqual(new Set(["f=a1024", ""]));
    expect(treesAfter([...removed, { is: "sync folder", path: "", calls: 5, at }])).toEqual(new Set([""]));
  });

  test("files before the recording are durable", () => {
    const initial = new Map([
      ["d", null],
      ["d/old", Buffer.from("xx")],
    ]);
    expect(treesAfter([], initial)).toEqual(new Set(["d=/ d/old=x2"]));
  });
});
