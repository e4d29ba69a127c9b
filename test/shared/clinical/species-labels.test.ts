import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import { expect, test } from "vitest";
import { readData } from "../../../shared/clinical/analytes/data.ts";
import { intervalFields } from "../../../shared/clinical/reference.ts";
import { fixturesFolder } from "../../support/runner/fixtures.ts";
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

test("no shipped interval is of another species", () => {
  expect(mislabelled(rows, printed, excluded)).toEqual([]);
});

test("every excluded row has a known source", () => {
  const sources = readData("sources.json", Type.Array(Type.Object({ id: text })));
  const known = new Set(sources.map(({ id }) => id));
  expect(excluded.filter(({ source_id }) => !known.has(source_id))).toEqual([]);
});
