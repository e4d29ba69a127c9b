import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Bundle } from "fhir/r4.js";
import { expect, test } from "vitest";
import { faultsOf, foreignFaults, ownFaults } from "../../support/clinic/fhir.ts";

// The checks of every response in these tests. Each one has to find the fault that it is there for.

type Path = readonly (string | number)[];

const REPORT: Path = ["entry", 0, "resource"];
const RESULT: Path = ["entry", 1, "resource"];
const ANIMAL: Path = ["entry", 2, "resource"];

/** Returns the golden Bundle with another value at a path; undefined removes it. */
function changed(path: Path, value: unknown): Bundle {
  const bundle = JSON.parse(readFileSync(join(import.meta.dirname, "golden/search.json"), "utf8")) as Bundle;
  let place = bundle as unknown as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) place = place[key] as Record<string | number, unknown>;
  place[path.at(-1) ?? ""] = value;
  return JSON.parse(JSON.stringify(bundle)) as Bundle;
}

test("the package refuses wrong codes, unknown properties and wrong types", () => {
  const wrong: [path: Path, value: unknown][] = [
    [[...REPORT, "status"], "finalised"],
    [[...REPORT, "colour"], "red"],
    [[...RESULT, "valueQuantity", "value"], "143"],
    [[...RESULT, "valueQuantity", "comparator"], "~"],
    [[...RESULT, "code"], undefined],
    [[...ANIMAL, "gender"], "castrated"],
  ];
  for (const [path, value] of wrong) expect([path, foreignFaults(changed(path, value)).length]).not.toEqual([path, 0]);
});

test("our asserts find what the package accepts", () => {
  const meaning = [...RESULT, "interpretation", 0, "coding", 0, "code"];
  const wrong: [path: Path, value: unknown, fault: string][] = [
    [[...REPORT, "id"], "cds_01", "DiagnosticReport has the id cds_01"],
    [[...REPORT, "id"], undefined, "DiagnosticReport has no id"],
    [[...REPORT, "effectiveDateTime"], "2026-11-21T07:00:30", "entry.0.resource.effectiveDateTime has no zone"],
    [[...REPORT, "issued"], "2026-02-30T07:00:30Z", "entry.0.resource.issued is no day"],
    [[...ANIMAL, "birthDate"], "2026-02-30", "entry.2.resource.birthDate is no day"],
    [meaning, "HIGH", "has the flag HIGH"],
    [[...RESULT, "valueQuantity", "code"], "K/uL blood", "has the unit K/uL blood"],
    [[...ANIMAL, "extension", 0, "extension", 0, "url"], "kind", "has no species"],
    [[...REPORT, "basedOn"], [], "entry.0.resource.basedOn is empty"],
    [[...REPORT, "code"], {}, "entry.0.resource.code is empty"],
    [[...REPORT, "code", "text"], "", "entry.0.resource.code.text is empty"],
    [[...RESULT, "valueString"], "143", "has two values"],
    [["entry", 1, "fullUrl"], "https://v.example/fhir/Patient/p1", "is there twice"],
    [["entry", 1, "fullUrl"], "https://v.example/fhir/Observation/2", "is not cds-01-1"],
  ];
  for (const [path, value, fault] of wrong) {
    const faults = ownFaults(changed(path, value));
    expect([path, faults.some((each) => each.includes(fault)), faults]).toEqual([path, true, faults]);
  }
  expect(faultsOf(changed([...REPORT, "id"], "cds-01"))).toEqual([]);
});
