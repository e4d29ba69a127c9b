import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Bundle, FhirResource } from "fhir/r4.js";
import { expect, test } from "vitest";
import { searchset } from "../../../server/fhir/bundle.ts";
import { diagnosticReport } from "../../../server/fhir/resources/diagnostic-report.ts";
import type { Place, StudyFacts } from "../../../server/fhir/resources/facts.ts";
import { observation } from "../../../server/fhir/resources/observation.ts";
import { patientResource } from "../../../server/fhir/resources/patient.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import { faultsOf } from "../../support/clinic/fhir.ts";

// The Bundle of golden/search.json, which a person read against R4.

const place: Place = {
  base: "https://v.example/fhir",
  systemOf: (kind) => `https://v.example/id/${kind}`,
  sourceSystem: (source, kind) => `https://${source}.example/${kind}`,
  reportUrl: (fp) => `https://v.example/report/${fp}.pdf`,
};

const cat: Patient = {
  fp: "p1",
  name: "Pamuk",
  species: "cat",
  breed: null,
  sex: "FS",
  date_of_birth: "2020-02-29",
  weight_kg: 4.2,
  owner_customer_fp: "customer_01",
  created_at: "2026-11-01T08:00:00.000Z",
  updated_at: "2026-11-01T08:00:00.000Z",
};

const facts: StudyFacts = {
  study: {
    fp: "cds_01",
    patient_fp: "p1",
    modality: "BIOCHEMISTRY",
    device_name: "Abaxis VetScan VS2",
    status: "COMPLETED",
    acquired_at: "2026-11-21T07:00:30.000Z",
    results: [{ analyte: "ALT", value: 143, unit: "U/L", reference_range: "12-130", flag: "high" }],
    order: { fp: "order_01", placer_number: "10231" },
  },
  species: "cat",
  issuedAt: Date.parse("2026-11-21T07:01:12.000Z"),
  updatedAt: Date.parse("2026-11-21T07:01:12.000Z"),
  studyInstanceUid: null,
  quality: null,
  history: { report: "final", results: ["final"] },
  order: { fp: "order_01", accession: "A1", panel: "Chemistry 10", placer: { source: "pims", number: "10231" } },
};

function golden(): Bundle {
  const alt = observation(facts, 0, place);
  const included: FhirResource[] = [
    ...(alt === undefined ? [] : [alt]),
    patientResource({ patient: cat, names: [{ source: "pims", externalId: "00417" }] }, place),
  ];
  return searchset({
    base: place.base,
    self: "DiagnosticReport?_lastUpdated=ge2026-11-20",
    ...{ next: null, total: 1, cursor: null, leftOut: 0 },
    matches: [diagnosticReport(facts, place)],
    included,
  });
}

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, "golden", name), "utf8"));
}

test("a report with its result and its animal is encoded as the golden file has it", () => {
  expect(golden()).toEqual(fixture("search.json"));
  expect(faultsOf(golden())).toEqual([]);
});

/** Returns the parts of `wanted` that `found` lacks. A list may have more elements. */
function lacks(found: unknown, wanted: unknown, path = "$"): string[] {
  if (typeof wanted !== "object" || wanted === null) return Object.is(found, wanted) ? [] : [path];
  const isList = Array.isArray(wanted);
  return Object.entries(wanted).flatMap(([key, value]) => {
    if (!isList) return lacks((found as Record<string, unknown> | undefined)?.[key], value, `${path}.${key}`);
    const candidates = Array.isArray(found) ? found.map((each) => lacks(each, value, `${path}[${key}]`)) : [];
    return candidates.some((each) => each.length === 0) ? [] : (candidates[0] ?? [path]);
  });
}

test("the golden file has all that the example of the guide has", () => {
  // golden/guide.json is the example with its times in UTC, as the API writes them.
  expect(lacks(fixture("search.json"), fixture("guide.json"))).toEqual([]);
  expect(lacks({ a: [{ b: 1 }] }, { a: [{ b: 2 }] })).toEqual(["$.a[0].b"]);
});
