import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bundle, FhirResource } from "fhir/r4.js";
import { expect, test } from "vitest";
import { profiles } from "../../../../agent/devices/index.ts";
import { shippedProfiles } from "../../../../agent/devices/table/load.ts";
import { livdBundle } from "../../../../agent/tools/livd/bundle.ts";
import { loincTargets } from "../../../../agent/tools/livd/loinc-targets.ts";
import { devices, isGeneral, testCodes } from "../../../../agent/tools/livd/sources.ts";
import { type Analyte, analyteByCode, analytes } from "../../../../shared/clinical/analytes/analytes.ts";
import { loincName } from "../../../../shared/clinical/analytes/loinc-names.ts";
import { foreignFaults, ownFaults } from "../../../support/clinic/fhir.ts";
import { fixturesFolder } from "../../../support/runner/fixtures.ts";

// The rules of HL7 LIVD 1.0.0 (HL7/livd, input/fsh) and of FHIR R4 for the bundle of our profiles.

const CODES = join(import.meta.dirname, "../../../../agent/devices/test-codes.yaml");

interface FixtureRow {
  readonly code: string;
  readonly codeSource: string;
  readonly device_code: string;
  readonly unit: string | null;
}

function hasUnit({ units, unconverted_units: others = [] }: Analyte, unit: string | null): boolean {
  return unit !== null && [...units.map((each) => each.unit), ...others].includes(unit);
}

/** Returns the codes that the profiles read in the fixtures, with one line for each code and unit. */
function codesOfFixtures(): string {
  const rowsOf = (file: string): FixtureRow[] => {
    const { messages = [] } = JSON.parse(readFileSync(file, "utf8")) as {
      messages?: { reading?: { reports?: { rows: FixtureRow[] }[] } }[];
    };
    return messages.flatMap(({ reading }) => reading?.reports ?? []).flatMap(({ rows }) => rows);
  };
  const blocks = profiles.flatMap(({ id }) => {
    if (isGeneral(id) || id.startsWith("practice-")) return [];
    const folder = join(fixturesFolder, id);
    const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
    const rows = files
      .flatMap((name) => rowsOf(join(folder, name)))
      .flatMap(({ code, codeSource, device_code, unit }) => {
        // A device's own code may be spelled like one of the catalogue: PCT is procalcitonin, too.
        const analyte = codeSource === "device" ? undefined : analyteByCode(code);
        const sent = device_code.trim().replaceAll(/\s+/g, " ");
        // A number without a unit of the test says nothing about it.
        const isNamed = analyte?.value_type === "numeric" ? hasUnit(analyte, unit) : unit === null;
        if (analyte === undefined || sent === "" || !isNamed) return [];
        return [JSON.stringify([sent, code, unit]).replaceAll(",", ", ")];
      });
    const lines = [...new Set(rows)].toSorted().map((row) => `  - ${row}\n`);
    return lines.length === 0 ? [] : [`${id}:\n${lines.join("")}`];
  });
  const head =
    "# The codes that each device sends, as its fixtures show: code, analyte, unit. npm run contract writes this file.\n";
  return head + blocks.join("");
}

test("the codes of the devices are those of their fixtures", () => {
  if (process.env["UPDATE_CONTRACT"] === "1") writeFileSync(CODES, codesOfFixtures());
  expect(readFileSync(CODES, "utf8")).toBe(codesOfFixtures());
});

const publication = { devices: devices(), tests: testCodes(), version: "1.2.3", date: "2026-11-29" };
const bundle = livdBundle(publication);
const resources = bundle.entry.map(({ resource }) => resource);
function ofType<T extends (typeof resources)[number]["resourceType"]>(type: T) {
  return resources.filter((each) => each.resourceType === type) as Extract<
    (typeof resources)[number],
    { resourceType: T }
  >[];
}
const [composition] = ofType("Composition");
const [map] = ofType("ConceptMap");
const [valueSet] = ofType("ValueSet");

/** Returns the values of a key anywhere in a resource. */
function valuesOf(key: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap((each) => valuesOf(key, each));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => [...(name === key ? [each] : []), ...valuesOf(key, each)]);
}

test("the bundle has one identifier, and neither time, total nor links", () => {
  expect(Object.keys(bundle).toSorted()).toEqual(["entry", "identifier", "resourceType", "type"]);
  expect(bundle.type).toBe("collection");
  expect(bundle.identifier).toEqual({
    ...{ system: expect.any(String), value: expect.any(String) },
    assigner: { display: "Vetwire" },
  });
  // There is one publication in it: the bundle's identifier is the composition's.
  expect(composition?.identifier).toEqual(bundle.identifier);
  expect(bundle.entry.length).toBeGreaterThanOrEqual(5);
  const kinds = ["Composition", "DeviceDefinition", "ObservationDefinition", "ConceptMap", "ValueSet"];
  expect([...new Set(resources.map(({ resourceType }) => resourceType))]).toEqual(kinds);
  expect([ofType("Composition"), ofType("ConceptMap"), ofType("ValueSet")].map(({ length }) => length)).toEqual([
    1, 1, 1,
  ]);
});

test("each address is unique, ends with its resource's id, and each id and code is one that R4 allows", () => {
  const urls = bundle.entry.map(({ fullUrl }) => fullUrl);
  expect(new Set(urls).size).toBe(urls.length);
  for (const { fullUrl, resource } of bundle.entry) {
    expect(resource.id).toMatch(/^[A-Za-z0-9\-.]{1,64}$/);
    expect(fullUrl.endsWith(`/${resource.resourceType}/${resource.id}`)).toBe(true);
  }
  for (const code of valuesOf("code", resources).filter((each) => typeof each === "string")) {
    expect(code).toMatch(/^[^\s]+(\s[^\s]+)*$/);
  }
  // R4 allows neither empty lists nor empty texts.
  expect(JSON.stringify(bundle)).not.toMatch(/\[\]|\{\}|""/);
});

test("the validator of FHIR R4 finds no error, and each unit is one of UCUM and of its test", () => {
  expect(foreignFaults(bundle as unknown as Bundle)).toEqual([]);
  expect(resources.flatMap((resource) => ownFaults(resource as unknown as FhirResource))).toEqual([]);
  // Procalcitonin has the letters of the plateletcrit, and no code of ours.
  const codesOf = (profile: string) => publication.tests.filter((each) => each.profile === profile);
  expect(codesOf("ichroma-iii").filter(({ analyte }) => analyte === "PCT")).toEqual([]);
});

test("the composition has its version and its language, and its sections list every definition and the map", () => {
  const { section, ...head } = composition!;
  const livd = "http://hl7.org/fhir/uv/livd";
  expect(head).toMatchObject({
    ...{ language: "en", status: "final", date: "2026-11-29", author: [{ display: "Vetwire" }] },
    type: {
      coding: [
        { system: "http://loinc.org", version: expect.any(String), code: "90370-8", display: "LIVD mapping data set" },
      ],
    },
    extension: [
      { url: `${livd}/StructureDefinition/ext-version`, valueCodeableConcept: { text: "1.2.3" } },
      {
        url: `${livd}/StructureDefinition/ext-language`,
        valueCodeableConcept: { coding: [{ system: "urn:ietf:bcp:47", code: "en" }] },
      },
    ],
  });
  const listed = section.map(({ code, entry }) => [code.coding[0]!, entry.map(({ reference }) => reference)]);
  const namesOf = (type: Parameters<typeof ofType>[0]) => ofType(type).map(({ id }) => `${type}/${id}`);
  const system = `${livd}/CodeSystem/livd-section-type`;
  expect(listed).toEqual([
    [{ system, code: "devices" }, namesOf("DeviceDefinition")],
    [{ system, code: "observation-definitions" }, namesOf("ObservationDefinition")],
    [{ system, code: "concept-map" }, namesOf("ConceptMap")],
  ]);
});

test("every profile of a device is in it, with its maker and model", () => {
  const known = new Map(ofType("DeviceDefinition").map((device) => [device.id, device]));
  expect([...shippedProfiles().keys()].filter((id) => !known.has(id))).toEqual([]);
  const named = (id: string) => [known.get(id)?.manufacturerString, known.get(id)?.modelNumber];
  expect(named("abaxis-vetscan-vs2")).toEqual(["Abaxis", "VetScan VS2"]);
  expect(named("urit-chem")).toEqual(["URIT", "8030, 8031"]);
  expect(named("fuji-au")).toEqual(["Fujifilm", "IMMUNO AU"]);
  expect(named("mythic")).toEqual(["Abbott", "CELL-DYN Emerald, Orphée Mythic 18, 22, Vet"]);
  expect(named("epoc")).toEqual(["Siemens", "epoc through EDM"]);
  expect(named("generic-hl7")).toEqual(["any", "generic-hl7"]);
  const unnamed = [...known.values()].filter(({ manufacturerString }) => manufacturerString === "any");
  expect(unnamed.map(({ id }) => id).filter((id) => !isGeneral(id))).toEqual([]);
});

test("a device and its tests refer to each other, and each reference resolves", () => {
  const names = new Set(resources.map(({ resourceType, id }) => `${resourceType}/${id}`));
  for (const reference of valuesOf("reference", resources)) expect(names).toContain(reference);
  const ofDevices = ofType("DeviceDefinition").flatMap(({ id, capability = [] }) =>
    capability.flatMap(({ extension }) => extension.map(({ valueReference }) => `${id} ${valueReference.reference}`)),
  );
  const ofTests = ofType("ObservationDefinition").map(({ id, extension }) => {
    const device = extension[0]!.valueReference.reference.replace("DeviceDefinition/", "");
    return `${device} ObservationDefinition/${id}`;
  });
  expect(ofDevices.toSorted()).toEqual(ofTests.toSorted());
  expect(ofTests.length).toBe(publication.tests.length);
});

test("the map has one group without source, and an element for each test by its id", () => {
  const [group, ...others] = map!.group;
  expect(others).toEqual([]);
  expect(Object.keys(group!).toSorted()).toEqual(["element", "target"]);
  expect(group!.target).toBe("http://loinc.org");
  expect(group!.element.map(({ code }) => code)).toEqual(ofType("ObservationDefinition").map(({ id }) => id));
  const concepts = new Map(valueSet!.compose.include[0]!.concept.map(({ code, display }) => [code, display]));
  for (const { display, target = [] } of group!.element) {
    expect(display).not.toBe("");
    expect(new Set(target.map(({ code }) => code)).size).toBe(target.length);
    for (const { code, display: name, equivalence, dependsOn } of target) {
      expect(concepts.get(code)).toBe(name);
      expect(["equivalent", "wider"]).toContain(equivalence);
      expect(dependsOn.map(({ property }) => property)).toEqual(["specimen", "result"]);
    }
  }
  const used = new Set(group!.element.flatMap(({ target = [] }) => target.map(({ code }) => code)));
  expect([...concepts.keys()].toSorted()).toEqual([...used].toSorted());
  expect(map!.targetCanonical).toBe(valueSet!.url);
  expect(valueSet).toMatchObject({ version: "1.2.3", copyright: expect.stringContaining("http://loinc.org/license") });
  expect(valueSet!.compose.include[0]).toMatchObject({ system: "http://loinc.org", version: expect.any(String) });
  // Most tests have a code: antigens, and analytes of animals alone, have none in LOINC.
  const mapped = group!.element.filter(({ target = [] }) => target.length > 0).length;
  expect(mapped / group!.element.length).toBeGreaterThan(0.8);
});

/** Returns the check digit of a LOINC code (modulus 10, as LOINC's users' guide has it). */
function checkDigit(number: string): number {
  const digits = Array.from(number).toReversed();
  const doubled = String(Number(digits.filter((_, index) => index % 2 === 0).join("")) * 2);
  const others = digits.filter((_, index) => index % 2 === 1).join("");
  const sum = Array.from(doubled + others).reduce((total, digit) => total + Number(digit), 0);
  return (10 - (sum % 10)) % 10;
}

test("each LOINC code of the catalogue and of the bundle has a valid check digit, and is never one that is only read", () => {
  const used = valueSet!.compose.include[0]!.concept.map(({ code }) => code);
  const all = [
    ...analytes.flatMap(({ loinc, loinc_read_only = [] }) => [...loinc, ...loinc_read_only]),
    ...used,
    "90370-8",
  ];
  for (const code of all) {
    const [number = "", digit] = code.split("-");
    expect([code, String(checkDigit(number))]).toEqual([code, digit]);
  }
  const readOnly = new Set(analytes.flatMap(({ loinc_read_only = [] }) => loinc_read_only));
  expect(used.filter((code) => readOnly.has(code))).toEqual([]);
});

test("a LOINC code is chosen by the unit, and its specimen and method stand in its name", () => {
  const targets = (code: string, unit: string | null) => loincTargets(analyteByCode(code)!, unit);
  expect(targets("CREA", "mg/dL").map(({ code }) => code)).toEqual(["2160-0"]);
  expect(targets("CREA", "umol/L").map(({ code }) => code)).toEqual(["14682-9"]);
  expect(targets("GLU", "mg/dL").map(({ code, specimen }) => [code, specimen])).toEqual([
    ["2345-7", "Serum or Plasma"],
    ["2339-0", "Blood"],
  ]);
  expect(targets("WBC", "10*9/L").map(({ code, equivalence }) => [code, equivalence])).toEqual([
    ["6690-2", "equivalent"],
    ["26464-8", "wider"],
  ]);
  expect(targets("UGLU", null).map(({ code }) => code)).toEqual(["25428-4"]);
  // No code of it was read with its name.
  expect(targets("SDMA", "ug/dL")).toEqual([]);
  expect(loincName("1754-1")).toBeNull();
});

test("each name of a LOINC code is of a code of the catalogue, once, with its source", () => {
  const rows = JSON.parse(
    readFileSync(join(import.meta.dirname, "../../../../shared/data/loinc-names.json"), "utf8"),
  ) as { loinc: string; name: string; source_id: string }[];
  const codes = new Set(analytes.flatMap(({ loinc }) => loinc));
  expect(rows.filter(({ loinc }) => !codes.has(loinc))).toEqual([]);
  expect(new Set(rows.map(({ loinc }) => loinc)).size).toBe(rows.length);
  expect(new Set(rows.map(({ source_id }) => source_id))).toEqual(new Set(["mimic_loinc", "loinc_lists"]));
});

test("the command prints the bundle", () => {
  const main = join(import.meta.dirname, "../../../../agent/main.ts");
  const printed: unknown = JSON.parse(execFileSync(process.execPath, [main, "livd"], { encoding: "utf8" }));
  expect(printed).toMatchObject({ resourceType: "Bundle", identifier: bundle.identifier, type: "collection" });
});
