import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder, until, World } from "../support/processes.ts";

// Practice software exports lists into a folder that the agent watches. Method: processes of server and agent, files on the disk.

let world: World;
const folder = temporaryFolder();

beforeAll(async () => {
  world = await World.create(1);
  world.writeConfig([{ id: "pims-files", profile: "practice-files", connection: { folder } }]);
  await world.startAgent();
});

afterAll(async () => {
  await world.end();
  fs.rmSync(folder, { recursive: true });
});

const put = (name: string, content: string) => fs.writeFileSync(path.join(folder, name), content);

function stored() {
  const db = new Database(path.join(world.serverData, "vetwire.db"), { readonly: true });
  try {
    const pluck = (text: string) => db.prepare(text).pluck().all();
    return {
      animals: pluck("SELECT name FROM patient WHERE id IN (SELECT patient_id FROM patient_source) ORDER BY id"),
      phases: pluck("SELECT phase FROM file_import ORDER BY id"),
    };
  } finally {
    db.close();
  }
}

test("a list becomes animals, also if the agent is killed before the file moves, and a question waits for a person", async () => {
  // Nothing can move to `done`, so that the kill comes between the copy and the move.
  put("done", "in place of the folder");
  put("hastalar.csv", "Hasta No;Hasta Adı;Tür;Doğum;Sahip\n1;Pamuk;Kedi;29.02.2020;Ada\n2;Paşa;Köpek;;Ece\n");
  put("eksik.csv", "Hasta No;Hasta Adı;Tür;Doğum;Sahip\n3;Boncuk;Kedi;3/4/2020;Ada\n");
  await until("both files are messages", () => world.messages().length === 2);
  await world.agent.end("SIGKILL");
  fs.rmSync(path.join(folder, "done"));
  await world.startAgent();
  await until("both files have moved", () => fs.existsSync(path.join(folder, "done", "hastalar.csv")));
  await until("the list is imported", () => stored().animals.length === 2);

  const messages = await world.drained();
  expect(messages.map(({ state, code }) => `${state} ${code}`).toSorted()).toEqual([
    "filed undefined",
    "quarantined REGISTRY.FILE_QUESTION",
  ]);
  expect(stored()).toEqual({
    animals: ["Pamuk", "Paşa"],
    phases: expect.arrayContaining(["read", "done"]) as string[],
  });
  expect(stored().phases).toHaveLength(2);
  expect(fs.readdirSync(folder)).toEqual(["done"]);
});
