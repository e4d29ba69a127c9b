import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { dataFile } from "../../../shared/clinical/analytes/data.ts";

// The collected facts lie beside the repository. A clone elsewhere lacks them.

const FACTS = path.resolve(import.meta.dirname, "../../../../shared/vetdata");
const isAbsent = !fs.existsSync(FACTS);
if (isAbsent)
  process.stderr.write(`the catalogue is not compared with the collected facts: they are not at ${FACTS}\n`);

type Row = Readonly<Record<string, unknown>>;

/** Returns the rows of both sets of the collected facts. */
function collected(name: string): Row[] {
  return [name, `${name}-2`].flatMap(
    (file) => JSON.parse(fs.readFileSync(path.join(FACTS, `${file}.json`), "utf8")) as Row[],
  );
}

function imported(name: string): Row[] {
  return JSON.parse(dataFile(`${name}.json`).toString("utf8")) as Row[];
}

const BOUNDS = ["low", "high", "critical_low", "critical_high"];
/** Fields of the collection that the catalogue computes itself. */
const COMPUTED = /_canonical$|^canonical_unit$|^preferred$/;

/** Returns the fields that say something. A bound is a number there, and here a text with the digits that were printed. */
function facts(row: Row): Row {
  const fields = Object.entries(row).filter(([name, value]) => value !== null && !COMPUTED.test(name));
  return Object.fromEntries(fields.map(([name, value]) => [name, BOUNDS.includes(name) ? Number(value) : value]));
}

function byId(rows: readonly Row[]): Record<string, Row> {
  return Object.fromEntries(rows.map((row) => [String(row["id"]), facts(row)]));
}

test.skipIf(isAbsent)("the catalogue has every collected interval with its source and its grade, and no other", () => {
  const rows = collected("reference-intervals");
  expect(rows.length).toBeGreaterThan(800);
  expect(byId(imported("reference-intervals"))).toEqual(byId(rows));
});

test.skipIf(isAbsent)("the catalogue has every collected source as it was read", () => {
  const sources = collected("sources");
  const kept = byId(imported("sources"));
  expect(Object.fromEntries(sources.map(({ id }) => [id, kept[String(id)]]))).toEqual(byId(sources));
});

test.skipIf(isAbsent)("every collected number that was left out stays out with its reason", () => {
  expect(imported("excluded-rows")).toEqual(expect.arrayContaining(collected("excluded-rows")));
});

interface Caveat {
  readonly species: string;
  readonly breeds?: string[] | null;
  readonly analytes: string[];
}

function subjectsOf(caveats: readonly Caveat[]): string[] {
  return caveats.flatMap(({ species, breeds, analytes }) =>
    (breeds ?? ["any"]).flatMap((breed) => analytes.map((code) => `${species} ${subgroupOf(breed)} ${code}`)),
  );
}

/** The collection writes breeds in words; two names of one breed are one subgroup. */
function subgroupOf(breed: string): string {
  return breed === "shiba inu" ? "shiba" : breed.replaceAll(" ", "_");
}

test.skipIf(isAbsent)("every collected breed and age where a general interval misleads has a caveat", () => {
  const file = path.join(FACTS, "breed-caveats.json");
  const wanted = subjectsOf(JSON.parse(fs.readFileSync(file, "utf8")) as Caveat[]);
  const kept = subjectsOf(JSON.parse(dataFile("breed-caveats.json").toString("utf8")) as Caveat[]);
  expect(wanted.filter((subject) => !kept.includes(subject))).toEqual([]);
});

test.skipIf(isAbsent)("every collected allowable error is stored with its source, and no other number is", () => {
  const file = path.join(FACTS, "allowable-error.json");
  const { rows } = JSON.parse(fs.readFileSync(file, "utf8")) as { rows: Row[] };
  const numbers = (row: Row) =>
    ["analyte", "percent", "max_cv", "max_bias", "max_method_difference", "source", "url"].map(
      (name) => row[name] ?? null,
    );
  expect(imported("allowable-error").map(numbers)).toEqual(
    rows.filter(({ verified }) => verified === true).map(numbers),
  );
});
