import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { dataFile } from "../../../shared/clinical/analytes/data.ts";

// The collected facts lie beside the repository. A clone elsewhere lacks them.

const FACTS = path.resolve(import.meta.dirname, "../../../../shared/vetdata");
const isAbsent = !fs.existsSync(FACTS);
if (isAbsent) console.warn(`skipped: the collected facts are not at ${FACTS}`);

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

test.skipIf(isAbsent)("every collected breed and age where a general interval misleads has a caveat", () => {
  const kept = new Set(
    imported("breed-caveats").flatMap(({ species, breeds = ["any"], analytes }) =>
      (breeds as string[]).flatMap((breed) => (analytes as string[]).map((code) => `${species} ${breed} ${code}`)),
    ),
  );
  const wanted = (JSON.parse(fs.readFileSync(path.join(FACTS, "breed-caveats.json"), "utf8")) as Row[]).flatMap(
    ({ species, breeds, analytes }) =>
      ((breeds ?? ["any"]) as string[]).flatMap((breed) =>
        (analytes as string[]).map((code) => `${species} ${subgroupOf(breed)} ${code}`),
      ),
  );
  expect(wanted.filter((each) => !kept.has(each))).toEqual([]);
});

/** The collection writes breeds in words; two names of one breed are one subgroup. */
function subgroupOf(breed: string): string {
  return breed === "shiba inu" ? "shiba" : breed.replaceAll(" ", "_");
}
