import { once } from "node:events";
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { createClient } from "../../../shared/client/client.ts";
import { patiently } from "../../support/runner/patience.ts";
import { Postgres, postgresProblem } from "../../support/machine/postgres.ts";
import {
  CLINIC,
  clinicFile,
  type Running,
  SERVER,
  start,
  temporaryFolder,
  testPatients,
  until,
} from "../../support/machine/processes.ts";

// Goal: clients have a copy that equals the lists while other processes import and push. Method: command line and HTTP only. The
// clock of one of the two servers is half a minute late.

const PATIENTS = 600;
const SKEW_MS = -30_000;
const BEHIND = `data:text/javascript,${encodeURIComponent(`const now = Date.now; Date.now = () => now() + ${SKEW_MS}`)}`;

let postgres: Postgres;
let folder: string;
const servers: { running: Running; address: string }[] = [];

describe.skipIf(postgresProblem() !== null)("clients of two servers on one PostgreSQL", () => {
  beforeAll(async () => {
    postgres = await Postgres.start();
    folder = temporaryFolder();
    await runCommand("import", fileOf("first", clinicFile(patients)));
    for (const name of ["one", "two"]) {
      const data = path.join(folder, name);
      if (name === "two") {
        mkdirSync(data, { recursive: true, mode: 0o700 });
        copyFileSync(path.join(folder, "one", "pepper"), path.join(data, "pepper"));
      }
      const limit = ["--rate-limit", "partner=1000000/1000000"];
      const skew = name === "two" ? { NODE_OPTIONS: `--import ${BEHIND}` } : {};
      const running = launch(data, ["run", "--port", "0", ...limit], skew);
      const address = await until("the server listens", () => /listening on (http:[^"]+)/.exec(running.output())?.[1]);
      servers.push({ running, address });
    }
  });

  afterAll(async () => {
    await Promise.all(servers.map(async ({ running }) => running.end("SIGKILL")));
    await postgres?.end();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  test(
    "a client that keeps the time of its poll, or the Sync-Cursor, misses nothing of imports and pushes",
    async () => {
      const key = (await runCommand("keys", "create", ...keyOptions)).trim();
      const [first, second] = servers.map(({ address }) => createClient({ url: address, key }));
      if (first === undefined || second === undefined) throw new Error("two servers run");

      let isWriting = true;
      const byTime = copyOf(first, () => new Date().toISOString());
      const byCursor = copyOf(second, null);
      async function poll(copy: ReturnType<typeof copyOf>): Promise<void> {
        while (isWriting) await copy.sync();
      }
      async function importAll(): Promise<void> {
        for (const name of ["Second", "Third"]) {
          const renamed = clinicFile(patients).replaceAll("Test animal", name);
          await runCommand("import", fileOf(name, renamed));
        }
        const left = patients
          .slice(0, 100)
          .map(({ fp }) => ({ type: "connection", patient_fp: fp, clinic_fp: CLINIC, active: false }));
        await runCommand("import", fileOf("left", left.map((line) => `${JSON.stringify(line)}\n`).join("")));
        isWriting = false;
      }
      async function pushSome(): Promise<void> {
        for (let count = 0; isWriting; count += 1) {
          await push(servers[count % 2]?.address ?? "", key);
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
      await Promise.all([importAll().finally(() => (isWriting = false)), pushSome(), poll(byTime), poll(byCursor)]);

      const truth = copyOf(first, null);
      await truth.sync();
      expect(truth.names.size).toBeGreaterThan(PATIENTS - 100);
      for (const copy of [byTime, byCursor]) {
        await copy.sync();
        expect(copy.names).toEqual(truth.names);
      }
    },
    patiently(120_000),
  );
});

const patients = testPatients(PATIENTS);

const keyOptions = [
  ...["--clinic", CLINIC, "--name", "client", "--type", "partner"],
  ...["--permissions", "clinic.patient.view,clinic.lab.ingest"],
];

/** A copy of patients' names and studies' devices. `cursorAt` makes the next cursor before a poll; null keeps the server's. */
function copyOf(client: ReturnType<typeof createClient>, cursorAt: (() => string) | null) {
  const names = new Map<string, string>();
  const cursors: { patients: string | null; studies: string | null; removed: string | null } = {
    patients: null,
    studies: null,
    removed: null,
  };
  return {
    names,
    async sync(): Promise<void> {
      let asked = cursorAt?.();
      for await (const page of client.changedPatients(cursors.patients)) {
        for (const { fp, name } of page.patients) names.set(fp, name);
        cursors.patients = asked ?? page.cursor;
      }
      asked = cursorAt?.();
      for await (const page of client.changedStudies(cursors.studies)) {
        for (const { fp, device_name } of page.studies) names.set(fp, device_name);
        cursors.studies = asked ?? page.cursor;
      }
      asked = cursorAt?.();
      for await (const page of client.removedRecords(cursors.removed)) {
        for (const { fp } of page.removed) names.delete(fp);
        cursors.removed = asked ?? page.cursor;
      }
    },
  };
}

async function push(address: string, key: string): Promise<void> {
  const hint = {
    identifier: null,
    name: null,
    species: null,
    breed: null,
    sex: null,
    owner: null,
    date_of_birth: null,
  };
  const study = {
    fp: newFp("cds"),
    patient_fp: patients.at(-1)?.fp,
    modality: "RADIOLOGY",
    device_name: "DX1",
    status: "COMPLETED",
    acquired_at: "2026-01-02T00:00:00.000Z",
    results: [],
    revision: 1,
    dedupe_key: newFp("cds"),
    source: { device_id: "xray", message_id: "1" },
    patient_hint: { ...hint, weight_kg: null },
  };
  const response = await fetch(`${address}/agent/v1/studies`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ studies: [study] }),
  });
  // An import may hold the clinic for longer than a push waits. An agent then sends again.
  if (response.status === 503) return;
  const { outcomes } = (await response.json()) as { outcomes: { outcome: string }[] };
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(["filed"]);
}

function fileOf(name: string, lines: string): string {
  const file = path.join(folder, `${name}.ndjson`);
  writeFileSync(file, lines);
  return file;
}

function launch(data: string, args: readonly string[], environment: Record<string, string> = {}): Running {
  return start(SERVER, [...args, "--data", data], { DATABASE_URL: postgres.url(), ...environment });
}

/** Runs a command of the server to its end. @returns its output */
async function runCommand(...args: string[]): Promise<string> {
  const running = launch(path.join(folder, "one"), args);
  const [code] = (await once(running.process, "close")) as [number];
  expect([code, running.output()]).toEqual([0, running.output()]);
  return running.output();
}
