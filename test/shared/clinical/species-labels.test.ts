import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import { expect, test } from "vitest";
import { readData } from "../../../shared/clinical/data.ts";
import { intervalFields } from "../../../shared/clinical/reference.ts";
import { fixturesFolder } from "../../support/fixtures.ts";
import { type ExcludedRow, type LabelledRow, mislabelled, type PrintedRange } from "./species-labels.ts";

// The published intervals are those of their species.

const rows: readonly LabelledRow[] = readData(
  "reference-intervals.json",
  Type.Array(Type.Object({ ...intervalFields, source_id: Type.String() })),
);
const text = Type.String({ minLength: 1 });
const excluded: readonly ExcludedRow[] = readData(
  "excluded-rows.json",
  Type.Array(Type.Object({ source_id: text, species: text, analyte: text, as_printed: text, reason: text })),
);
const printed = printedRanges();

/** Ranges that devices print in the fixtures, by species. */
function printedRanges(): PrintedRange[] {
  const files = readdirSync(fixturesFolder, { recursive: true, encoding: "utf8" });
  const goldens = files.filter((file) => file.endsWith(".json")).toSorted();
  return goldens.flatMap((file) => rangesIn(JSON.parse(readFileSync(join(fixturesFolder, file), "utf8")) as Golden));
}

interface Golden {
  readonly messages?: readonly { readonly reading: { readonly reports?: readonly GoldenReport[] } | null }[];
}

interface GoldenReport {
  readonly device_name: string;
  readonly rows?: readonly {
    readonly code: string;
    readonly device_range: { low: number | null; high: number | null; species: string | null } | null;
  }[];
}

function rangesIn({ messages = [] }: Golden): PrintedRange[] {
  const reports = messages.flatMap(({ reading }) => reading?.reports ?? []);
  return reports.flatMap(({ device_name: device, rows: measured = [] }) =>
    measured.flatMap(({ code: analyte, device_range }) => {
      const { low = null, high = null, species = null } = device_range ?? {};
      return low === null || high === null || species === null ? [] : [{ device, species, analyte, low, high }];
    }),
  );
}

/** Rows of the cat under the dog: a sample record of the vendor says Dog, with the cat's ranges. */
const vetscanRows: readonly LabelledRow[] = (
  [
    ["ALT", "U/L", "20", "100"],
    ["BUN", "mg/dL", "10", "30"],
    ["CREA", "mg/dL", "0.3", "2.1"],
    ["GLU", "mg/dL", "70", "150"],
    ["K", "mmol/L", "3.7", "5.8"],
    ["NA", "mmol/L", "142", "164"],
    ["TCO2", "mmol/L", "15", "24"],
  ] as const
).map(([analyte, unit, low, high]) => ({
  id: `dog-any-any-${analyte.toLowerCase()}-abaxis_vs2_spec`,
  species: "dog",
  device: "VetScan VS2",
  analyte,
  unit,
  low,
  high,
  source_id: "abaxis_vs2_spec",
}));

test("no shipped interval is of another species", () => {
  expect(mislabelled(rows, printed, excluded)).toEqual([]);
});

test("every excluded row has a known source", () => {
  const sources = readData("sources.json", Type.Array(Type.Object({ id: text })));
  const known = new Set(sources.map(({ id }) => id));
  expect(excluded.filter(({ source_id }) => !known.has(source_id))).toEqual([]);
});

test("the VetScan's cat ranges under the dog are found by the list of excluded rows", () => {
  expect(mislabelled(vetscanRows, [], excluded)).toEqual(vetscanRows.map(({ id }) => `${id} is excluded`));
});

test("the VetScan's cat ranges under the dog are found by the ranges that the device prints for a cat", () => {
  expect(mislabelled(vetscanRows, printed, [])).toEqual(
    ["alt", "bun", "crea", "glu"].map(
      (code) => `dog-any-any-${code}-abaxis_vs2_spec has the bounds that VetScan VS2 prints for cat`,
    ),
  );
});

test("the VetScan's cat ranges under the dog are found by the other sources alone", () => {
  expect(mislabelled([...rows, ...vetscanRows], [], [])).toEqual([
    "abaxis_vs2_spec has 4 of 7 rows of dog nearer to other sources' cat",
  ]);
});

test("a source with dog and cat swapped is found by the other sources", () => {
  const swapped = rows.map((row) =>
    row.source_id !== "cornell_cobas_2017" || !["dog", "cat"].includes(row.species)
      ? row
      : { ...row, species: row.species === "dog" ? ("cat" as const) : ("dog" as const) },
  );
  expect(mislabelled(swapped, [], [])).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^cornell_cobas_2017 has \d+ of \d+ rows of dog nearer to other sources' cat$/),
    ]),
  );
});

test("a source that gives the cat the dog's numbers is found", () => {
  const copied = rows.filter((row) => row.source_id === "dap_2023").map((row) => ({ ...row, species: "cat" as const }));
  expect(mislabelled([...rows, ...copied], [], [])).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^dap_2023 gives cat and dog the same bounds for 36 of 36 analytes$/),
    ]),
  );
});
