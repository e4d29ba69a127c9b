import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { dataFile } from "../../../shared/clinical/analytes/data.ts";
import { loincOf } from "../../../shared/clinical/analytes/loinc.ts";
import { convert, readUnit } from "../../../shared/clinical/analytes/units.ts";
import { offeredLimits } from "../../../shared/clinical/critical-limits.ts";
import { hasBreeds, readSpecies, subgroupOf } from "../../../shared/clinical/species.ts";

// The collected facts lie beside the repository. A clone elsewhere lacks them.

const FACTS = path.resolve(import.meta.dirname, "../../../../shared/vetdata");
const isAbsent = !fs.existsSync(FACTS);
if (isAbsent)
  process.stderr.write(`the catalogue is not compared with the collected facts: they are not at ${FACTS}\n`);

type Row = Readonly<Record<string, unknown>>;

function fromFile(name: string): unknown {
  return JSON.parse(fs.readFileSync(path.join(FACTS, `${name}.json`), "utf8"));
}

/** Returns the rows of both sets of the collected facts. */
function collected(name: string): Row[] {
  return [name, `${name}-2`].flatMap((file) => fromFile(file) as Row[]);
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

interface Candidate {
  readonly species: string;
  readonly analyte: string;
  readonly unit: string;
  readonly low: number | null;
  readonly high: number | null;
  readonly use?: string;
  readonly grade?: string;
  readonly note?: string;
  readonly title: string;
}

test.skipIf(isAbsent)("every collected critical limit is offered with its grade, but the refuted one", () => {
  const candidates = ["critical-candidates", "critical-limits-2"].flatMap((file) => fromFile(file) as Candidate[]);
  const wanted = candidates
    .filter(({ use }) => use !== "do_not_apply")
    .flatMap(({ species, analyte, unit, low, high, grade, note }) =>
      species.split(", ").map((each) => {
        const subgroup = note === "subgroup donkey only" ? "donkey" : null;
        return { species: each, subgroup, analyte, unit, low, high, grade: grade ?? null };
      }),
    );
  const numberOf = (bound: string | undefined) => (bound === undefined ? null : Number(bound));
  const offered = offeredLimits.map(({ species, subgroup = null, analyte, unit, low, high, grade = null }) => {
    return { species, subgroup, analyte, unit, low: numberOf(low), high: numberOf(high), grade };
  });
  expect(wanted).toHaveLength(20);
  expect(offered).toHaveLength(20);
  expect(offered).toEqual(expect.arrayContaining(wanted));
});

interface VariationRow {
  readonly species: string;
  readonly analyte: string;
  readonly rcv: number | null;
  readonly population: string;
  readonly source: string;
  readonly n: number;
  readonly grade: string;
}

test.skipIf(isAbsent)("the reference change values are the first ones of grade A in healthy dogs and cats", () => {
  const wanted = (fromFile("biological-variation") as VariationRow[]).filter(
    ({ species, analyte, rcv, population, grade }, index, rows) =>
      rcv !== null &&
      grade === "A" &&
      population === "healthy adults" &&
      hasBreeds(species) &&
      rows.findIndex((row) => row.rcv !== null && row.species === species && row.analyte === analyte) === index,
  );
  const kept = (imported("biological-variation") as unknown as VariationRow[]).toSorted((one, other) =>
    one.analyte.localeCompare(other.analyte),
  );
  const told = ({ species, analyte, rcv, n, source, grade }: VariationRow) => [species, analyte, rcv, n, source, grade];
  const byAnalyte = wanted.toSorted((one, other) => one.analyte.localeCompare(other.analyte));
  expect(kept.map(told)).toEqual(byAnalyte.map(told));
});

/** Collected rules about comparisons that are no rows of the catalogue, and why. */
const COMPARED_ELSEWHERE: Readonly<Record<string, string>> = {
  comparator: "compareResults() refuses every bound",
  interval_by_device: "compareResults() refuses values with two intervals",
  tt4_method_limits: "the analyte has tt4_method",
  glucose_meter: "the analyte has device_class",
  glucose_meter_species: "no device sends which species its code is for",
  hct_conductivity: "not verified",
  plt_automated_smear: "it refuses no difference between two counters",
  crea_method: "not verified, and the analyte has device_class",
  serum_plasma: "no device sends whether blood is serum or plasma",
  upc: "measured in ill animals",
  three_part: "MID, MONO, GRA and NEU are four analytes",
};

test.skipIf(isAbsent)("every collected rule about comparisons is in the catalogue, or has its reason", () => {
  const rules = fromFile("not-comparable") as { id: string; analytes: string[] }[];
  const kept = imported("not-comparable") as unknown as { id: string; analytes: string[] }[];
  const left = rules.filter(({ id }) => kept.every((rule) => rule.id !== id)).map(({ id }) => id);
  expect(left.toSorted()).toEqual(Object.keys(COMPARED_ELSEWHERE).toSorted());
  const analytesOf = (id: string) => rules.find((rule) => rule.id === id)?.analytes;
  for (const { id, analytes } of kept) expect([id, analytes]).toEqual([id, analytesOf(id)]);
});

interface UnitRow {
  readonly analyte: string;
  readonly conventional: string;
  readonly si: string;
  readonly factor_to_si: number | null;
  readonly missing_units: readonly string[];
}

test.skipIf(isAbsent)(
  "both units of each analyte and the units that were missing are read, with the collected factors",
  () => {
    const rows = fromFile("unit-systems") as UnitRow[];
    expect(rows).toHaveLength(149);
    for (const { analyte: code, conventional, si, factor_to_si: factor, missing_units } of rows) {
      const analyte = analyteByCode(code)!;
      const units = [conventional, si, ...missing_units.map((text) => text.split(/[ :]/)[0] ?? "")];
      for (const unit of units) {
        const read = readUnit(analyte, unit, 0.5).unit;
        expect([code, unit, read === null]).toEqual([code, unit, false]);
      }
      const converted = convert(analyte, 1, conventional, si);
      if (factor === null) continue;
      expect(converted).not.toBeNull();
      expect(Math.abs((converted ?? 0) / factor - 1)).toBeLessThan(0.001);
    }
  },
);

interface LoincFinding {
  readonly analyte: string;
  readonly loinc: string | null;
  readonly action: string;
}

/** Whether the catalogue does what a finding says. */
function holds({ analyte: code, loinc, action }: LoincFinding): boolean {
  const analyte = analyteByCode(code)!;
  const { loinc: own, loinc_read_only: readOnly = [], units } = analyte;
  const isSent = [null, ...units.map(({ unit }) => unit)].some(
    (unit) => loinc !== null && loincOf(analyte, unit) === loinc,
  );
  const [isOwn, isReadOnly] = [own.includes(loinc ?? ""), readOnly.includes(loinc ?? "")];
  switch (action) {
    case "leave_empty":
      return own.length === 0;
    case "remove":
    case "read_only":
    case "never_send_for_a_rank":
      return isReadOnly && !isSent;
    case "wrong_on_the_wire":
      return !isOwn && !isReadOnly;
    case "method_less":
      // It is read, and never sent: the first code says that a count was automated.
      return isOwn && own[0] !== loinc && !isSent;
    default:
      // A strip's urobilinogen in mg/dL is read as UUBGN, which does not know whether it is a strip's.
      return isOwn || code === "UUBGN";
  }
}

test.skipIf(isAbsent)(
  "each finding about a LOINC code holds: what is sent, what is only read, and what has no code",
  () => {
    const findings = fromFile("loinc-2") as LoincFinding[];
    expect(findings).toHaveLength(91);
    expect(findings.filter((finding) => !holds(finding))).toEqual([]);
  },
);

test.skipIf(isAbsent)("each collected word of a subgroup leads to it, and to no other", () => {
  const { subgroups } = fromFile("species-map-2") as {
    subgroups: { species: string; subgroup: string; words: string[] }[];
  };
  expect(subgroups).toHaveLength(20);
  for (const { species, subgroup, words } of subgroups) {
    for (const word of words) {
      expect([word, subgroupOf(species, word)]).toEqual([word, subgroup]);
      expect([word, readSpecies(word)]).toEqual([word, species]);
    }
  }
});

interface Caveat {
  readonly species: string;
  readonly breeds?: string[] | null;
  readonly analytes: string[];
}

function subjectsOf(caveats: readonly Caveat[]): string[] {
  return caveats.flatMap(({ species, breeds, analytes }) =>
    (breeds ?? ["any"]).flatMap((breed) => analytes.map((code) => `${species} ${wordOf(breed)} ${code}`)),
  );
}

/** The collection writes breeds in words; two names of one breed are one subgroup. */
function wordOf(breed: string): string {
  return breed === "shiba inu" ? "shiba" : breed.replaceAll(" ", "_");
}

test.skipIf(isAbsent)("every collected breed and age where a general interval misleads has a caveat", () => {
  const wanted = subjectsOf(fromFile("breed-caveats") as Caveat[]);
  const kept = subjectsOf(JSON.parse(dataFile("breed-caveats.json").toString("utf8")) as Caveat[]);
  expect(wanted.filter((subject) => !kept.includes(subject))).toEqual([]);
});
