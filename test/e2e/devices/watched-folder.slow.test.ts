import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder, until, World } from "../../support/machine/processes.ts";

// Practice software exports lists, and analyzers results, into folders that the agent watches. Method: processes of server and agent, files on the disk.

let world: World;
const folder = temporaryFolder();
const results = temporaryFolder();

beforeAll(async () => {
  world = await World.create(2);
  world.writeConfig([
    { id: "pims-files", profile: "practice-files", connection: { folder } },
    { id: "chem-files", profile: "abaxis-vetscan-vs2-csv", connection: { folder: results } },
  ]);
  await world.startAgent();
});

afterAll(async () => {
  await world.end();
  fs.rmSync(folder, { recursive: true });
  fs.rmSync(results, { recursive: true });
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
  await until("both files have moved", () => fs.readdirSync(folder).join() === "done");
  await until("the list is imported", () => stored().animals.length === 2);

  const messages = await world.drained();
  expect(messages.map(({ state, code }) => (state === "filed" ? state : `${state} ${code}`)).toSorted()).toEqual([
    "filed",
    "quarantined REGISTRY.FILE_QUESTION",
  ]);
  // A list that the server stored before the kill is known to it when it comes again.
  expect([undefined, "REGISTRY.FILE_KNOWN"]).toContain(messages.find(({ state }) => state === "filed")?.code);
  expect(stored()).toEqual({
    animals: ["Pamuk", "Paşa"],
    phases: expect.arrayContaining(["read", "done"]) as string[],
  });
  expect(stored().phases).toHaveLength(2);
  expect(fs.readdirSync(folder)).toEqual(["done"]);
});

test("a file of results that grows gives each study once, with the agent killed at each step", async () => {
  const inResults = (name: string) => path.join(results, name);
  const [one, other] = world.patients.map(({ externalId }) => externalId);
  const runs = [
    "Date;Patient no.;Customer no.;ALB;;ALT;\r\n",
    `12/11/2026 4:42 p.m.;${one};;3,1;g/dL;41;U/L\r\n`,
    `12/11/2026 5:10 p.m.;${other};;2,8;g/dL;55;U/L\r\n`,
    `13/11/2026 9:00 a.m.;${one};;3,0;g/dL;60;U/L`,
  ];
  const messages = () => world.messages().filter(({ device }) => device === "chem-files");
  const studies = () =>
    world
      .serverStudies()
      .map(({ patient, revision, results: rows }) => [patient, revision, rows.map(({ value }) => value)]);
  const restart = async () => {
    await world.agent.end("SIGKILL");
    await world.startAgent();
  };
  // Before it is taken.
  fs.writeFileSync(inResults("export.csv"), runs.slice(0, 3).join(""));
  await world.agent.end("SIGKILL");
  expect(messages()).toEqual([]);
  // Between the copy and the move: the file is read again.
  fs.writeFileSync(inResults("done"), "in place of the folder");
  await world.startAgent();
  await until("the file is a message", () => messages().length === 1);
  await world.agent.end("SIGKILL");
  fs.rmSync(inResults("done"));
  await world.startAgent();
  await until("both runs are at the server", () => studies().length === 2);
  await until("the file has moved", () => fs.existsSync(inResults("done/export.csv")));
  // The program writes all runs again, and one more.
  fs.writeFileSync(inResults("export.csv"), runs.join(""));
  await until("the longer file is a message", () => messages().length === 2);
  await restart();
  await until("the third run is at the server", () => studies().length === 3);
  await world.placed();
  const [first, second] = world.patients.map(({ fp }) => fp);
  expect(studies()).toEqual([
    [first, 1, [3.1, 41]],
    [second, 1, [2.8, 55]],
    [first, 1, [3, 60]],
  ]);
  expect(messages().map(({ state }) => state)).toEqual(["filed", "filed"]);
});
