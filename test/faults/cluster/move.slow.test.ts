import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { demoEntities, demoFile } from "../../../server/demo/data.ts";
import type { Entity, PatientLine } from "../../../server/import/lines.ts";
import { writeImportFile } from "../../support/import-lines.ts";
import { endedMegabytes } from "../../support/peak-memory.ts";
import { SERVER, start, temporaryFolder } from "../../support/processes.ts";
import { clusterProblem, PatroniCluster } from "./patroni.ts";

// Goal: a clinic moves from SQLite to a cluster and finds the same data. Method: an export of SQLite is imported into three nodes
// under Patroni, and the SHA-256 of the cluster's export is compared. `ENTITIES=1000000` chooses the size.

const SOAK = process.env["SOAK"] === "1";
const ENTITIES = Number(process.env["ENTITIES"] ?? (SOAK ? 5_000_000 : 10_000));
/** Memory is compared with a move of this many entities. */
const FEWER = ENTITIES / 10;
/** One study out of this many has an earlier revision. */
const CORRECTED = 10;
/** Max resident memory of a command, and max private memory of a PostgreSQL process, in MB of 1024 kB. */
const COMMAND_MB_MAX = 300;
const SESSION_MB_MAX = 100;
/** Max growth of memory beside a tenth of the entities. The heap of a small import has not reached its size. */
const GROWTH_MAX = FEWER < 50_000 ? 2 : 1.3;
/** No node fails here, so that a busy machine may delay Patroni. */
const TTL_S = 60;

const ALL_KINDS: readonly Entity["type"][] = [
  ...(["calendar_event", "clinic", "connection", "customer", "inventory_batch"] as const),
  ...(["inventory_item", "patient", "soap", "study", "user"] as const),
];

const problem = clusterProblem();
if (problem !== null) process.stderr.write(`the move to a PostgreSQL cluster is not tested: ${problem}\n`);

interface Step {
  readonly name: string;
  readonly output: string;
  readonly seconds: number;
  readonly commandMegabytes: number;
  /** The largest PostgreSQL process of any node. */
  readonly sessionMegabytes: number;
}

interface Move {
  readonly url: string;
  /** The export of SQLite. */
  readonly original: string;
  readonly lines: number;
  readonly hash: string;
  readonly steps: readonly Step[];
}

describe.skipIf(problem !== null)("a move from SQLite to a cluster of PostgreSQL", () => {
  let cluster: PatroniCluster;
  let folder: string;
  let fewer: Move;

  beforeAll(async () => {
    folder = temporaryFolder();
    cluster = await PatroniCluster.start(true, TTL_S);
  }, 300_000);

  afterAll(async () => {
    await cluster?.end();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a command of the server on SQLite, or on the database of a URL. */
  async function run(name: string, args: readonly string[], url?: string): Promise<Step> {
    const begun = performance.now();
    const running = start(SERVER, args, url === undefined ? {} : { DATABASE_URL: url });
    let sessionMegabytes = 0;
    const watching = setInterval(() => {
      sessionMegabytes = Math.max(sessionMegabytes, ...cluster.nodes.map((node) => node.largestMegabytes()));
    }, 250);
    const commandMegabytes = await endedMegabytes(running).finally(() => clearInterval(watching));
    const seconds = (performance.now() - begun) / 1000;
    return { name, output: running.output(), seconds, commandMegabytes, sessionMegabytes };
  }

  async function exportHash(url: string): Promise<string> {
    const copy = path.join(folder, "copy.ndjson");
    await run("export", ["export", copy, "--data", folder], url);
    return hashOf(copy);
  }

  /** Fills an SQLite server, exports it, imports it twice into a database of the cluster, and exports that each time. */
  async function move(entities: number): Promise<Move> {
    const place = path.join(folder, String(entities));
    fs.mkdirSync(place);
    const file = (name: string) => path.join(place, `${name}.ndjson`);
    const sqlite = ["--data", path.join(place, "sqlite")];
    fs.writeFileSync(file("demo"), demoFile());
    writeImportFile(file("generated"), entities);
    await writeCorrections(file("generated"), file("corrections"));
    const steps: Step[] = [];
    const step = async (name: string, args: readonly string[], url?: string): Promise<string> => {
      const done = await run(name, args, url);
      steps.push(done);
      tell(entities, done);
      return done.output;
    };
    for (const name of ["demo", "generated", "corrections"])
      await step(`${name} into SQLite`, ["import", file(name), ...sqlite]);
    const original = file("original");
    await step("export of SQLite", ["export", original, ...sqlite]);
    for (const name of ["demo", "generated", "corrections"]) fs.rmSync(file(name));
    fs.rmSync(path.join(place, "sqlite"), { recursive: true });
    const { lines, kinds } = await contentOf(original);
    expect(kinds).toEqual(ALL_KINDS);
    expect(lines).toBe(entities + demoEntities().length);
    const hash = await hashOf(original);

    const database = `move${entities}`;
    await cluster.query(`create database ${database}`, await cluster.settled());
    const url = cluster.url(database, "?target_session_attrs=read-write");
    for (const [name, counts] of [
      ["import into the cluster", `${lines} new, 0 changed, 0 unchanged`],
      ["second import into the cluster", `0 new, 0 changed, ${lines} unchanged`],
    ] as const) {
      expect(await step(name, ["import", original, "--data", place], url)).toContain(counts);
      const copy = file("copy");
      await step("export of the cluster", ["export", copy, "--data", place], url);
      expect(await hashOf(copy)).toBe(hash);
      fs.rmSync(copy);
    }
    return { url, original, lines, hash, steps };
  }

  test(
    `${FEWER} entities arrive unchanged, and one changed byte or one missing line shows in the hash`,
    async () => {
      fewer = await move(FEWER);
      const { url, original, hash } = fewer;
      const [before, after] = [path.join(folder, "before.ndjson"), path.join(folder, "after.ndjson")];
      const patient = await firstPatient(original);
      fs.writeFileSync(before, JSON.stringify(patient));
      fs.writeFileSync(after, JSON.stringify({ ...patient, name: `${patient.name.slice(0, -1)}#` }));
      expect((await run("a byte", ["import", after, "--data", folder], url)).output).toContain("0 new, 1 changed");
      expect(await exportHash(url)).not.toBe(hash);
      await run("the byte", ["import", before, "--data", folder], url);
      expect(await exportHash(url)).toBe(hash);

      const [primary, database] = [await cluster.settled(), `move${FEWER}`];
      await cluster.query(
        "delete from calendar_event where id = (select max(id) from calendar_event)",
        primary,
        database,
      );
      expect(await exportHash(url)).not.toBe(hash);
    },
    SOAK ? 3_600_000 : 300_000,
  );

  test(
    `${ENTITIES} entities arrive unchanged, in memory that hardly grows`,
    async () => {
      const { steps } = await move(ENTITIES);
      const growth = steps.map(({ name, commandMegabytes }, index) => ({
        name,
        ratio: commandMegabytes / (fewer.steps[index]?.commandMegabytes ?? Number.NaN),
      }));
      process.stdout.write(
        `growth of memory: ${growth.map(({ name, ratio }) => `${name} ${ratio.toFixed(2)}`).join(", ")}\n`,
      );
      expect(Math.max(...steps.map(({ commandMegabytes }) => commandMegabytes))).toBeLessThan(COMMAND_MB_MAX);
      expect(Math.max(...steps.map(({ sessionMegabytes }) => sessionMegabytes))).toBeLessThan(SESSION_MB_MAX);
      expect(growth.filter(({ ratio }) => !(ratio < GROWTH_MAX))).toEqual([]);
    },
    SOAK ? 4 * 3_600_000 : 300_000,
  );
});

function tell(entities: number, { name, seconds, commandMegabytes, sessionMegabytes }: Step): void {
  process.stdout.write(
    `${entities} entities, ${name}: ${seconds.toFixed(1)} s, ${((seconds * 1e6) / entities).toFixed(0)} us an entity, ` +
      `${commandMegabytes.toFixed(0)} MB, largest PostgreSQL process ${sessionMegabytes.toFixed(0)} MB\n`,
  );
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(fs.createReadStream(file), hash);
  return hash.digest("hex");
}

async function* entitiesOf(file: string): AsyncGenerator<Entity> {
  for await (const line of readline.createInterface({ input: fs.createReadStream(file) }))
    yield JSON.parse(line) as Entity;
}

async function contentOf(file: string): Promise<{ lines: number; kinds: string[] }> {
  let lines = 0;
  const kinds = new Set<string>();
  for await (const { type } of entitiesOf(file)) {
    lines += 1;
    kinds.add(type);
  }
  return { lines, kinds: [...kinds].toSorted() };
}

async function firstPatient(file: string): Promise<PatientLine> {
  for await (const entity of entitiesOf(file)) if (entity.type === "patient") return entity;
  throw new Error("expected a patient in the export, got none");
}

/** Writes every tenth study of a file with another value. Its import makes a second revision of each. */
async function writeCorrections(from: string, to: string): Promise<void> {
  async function* corrections(): AsyncGenerator<string> {
    let studies = 0;
    for await (const entity of entitiesOf(from)) {
      if (entity.type !== "study" || (studies += 1) % CORRECTED !== 0) continue;
      const results = entity.results.map((result) => ({ ...result, value: (result.value ?? 0) + 0.01 }));
      yield `${JSON.stringify({ ...entity, results })}\n`;
    }
  }
  await pipeline(corrections, fs.createWriteStream(to));
}
