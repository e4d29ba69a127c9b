import { expect, test } from "vitest";
import { StoreUnavailable } from "../../../../server/database/query.ts";
import { openFile } from "../../../../server/import/table/read-thread.ts";

// One file may take the memory of its thread, so that the threads of a whole server are few.

const NOW = Date.parse("2026-11-21T12:00:00.000Z");

async function open(name: string, clinicId = 1) {
  const context = { clinicId, choices: {}, now: NOW };
  const file = await openFile(Buffer.from(`Name;Species;Owner\n${name};cat;Ada\n`), context);
  if ("fault" in file) throw new Error(file.fault.code);
  return file;
}

test("two files are open at a time, twenty wait for their turn, and a further one is refused", async () => {
  const [first, second] = await Promise.all([open("Pamuk"), open("Karabaş")]);
  const read: string[] = [];
  const others = Array.from({ length: 20 }, async (_, number) => {
    const file = await open(`cat ${number}`, number % 4);
    const [record] = await file.records(0, 1);
    read.push(record?.cells[0] ?? "");
    await file.close();
  });
  await expect(open("Boncuk", 5)).rejects.toThrow(StoreUnavailable);
  expect(read).toEqual([]);
  await Promise.all([first.close(), second.close()]);
  await Promise.all(others);
  expect(read.toSorted()).toEqual(Array.from({ length: 20 }, (_, number) => `cat ${number}`).toSorted());
});

test("a clinic with many files keeps no other waiting: a place goes to one without an open file, and five of one wait", async () => {
  const [first, second] = await Promise.all([open("first"), open("second")]);
  const read: string[] = [];
  const others = [1, 1, 1, 1, 1, 2].map(async (clinicId, number) => {
    const file = await open(`${clinicId}-${number}`, clinicId);
    read.push(`${clinicId}-${number}`);
    await file.close();
  });
  await expect(open("sixth")).rejects.toThrow(StoreUnavailable);
  await first.close();
  await Promise.all(others);
  await second.close();
  expect(read[0]).toBe("2-5");
  expect(read.slice(1)).toEqual(["1-0", "1-1", "1-2", "1-3", "1-4"]);
});

test("a file that ends its thread leaves its place to the next one", async () => {
  const faults = [];
  for (let round = 0; round < 3; round += 1)
    faults.push(await openFile(Buffer.alloc(0), { clinicId: 1, choices: {}, now: NOW }));
  expect(faults).toEqual(Array.from({ length: 3 }, () => ({ fault: { code: "empty_file", line: null, value: "" } })));
});
