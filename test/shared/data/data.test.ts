import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, expect, test } from "vitest";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import type { assess } from "../../../shared/clinical/flag.ts";
import type { Signalment } from "../../../shared/clinical/signalment.ts";

// The loaders with damaged copies of the data: the first bad row is an error that names it.

interface Loaded {
  readonly assess: typeof assess;
}

const shared = fileURLToPath(new URL("../../../shared", import.meta.url));
const copies: string[] = [];

afterEach(() => {
  for (const copy of copies.splice(0)) rmSync(copy, { recursive: true, force: true });
});

async function loadedWith(file: string, from: string, to: string): Promise<Loaded> {
  const copy = mkdtempSync(join(tmpdir(), "vetwire-data-"));
  copies.push(copy);
  cpSync(shared, join(copy, "shared"), { recursive: true });
  for (const name of ["node_modules", "package.json"]) symlinkSync(join(shared, "..", name), join(copy, name));
  const path = join(copy, "shared/data", file);
  const before = readFileSync(path, "utf8");
  expect(before).toContain(from);
  writeFileSync(path, before.replace(from, to));
  const url = pathToFileURL(join(copy, "shared/clinical/flag.ts")).href;
  return (await import(url)) as Loaded;
}

test("an unchanged copy loads", async () => {
  await expect(loadedWith("units.json", '"g%"', '"g%"')).resolves.toHaveProperty("assess");
});

const ALT =
  '"id":"dog-any-any-alt-cornell_cobas_2017","species":"dog","analyte":"ALT","unit":"U/L","low":"17","high":"95"';

test.each([
  ["reference-intervals.json", ALT, ALT.replace('"17"', '"95"'), "dog-any-any-alt-cornell_cobas_2017 has the low 95"],
  ["reference-intervals.json", ALT, ALT.replace('"17"', '"seventeen"'), "dog-any-any-alt-cornell_cobas_2017"],
  ["reference-intervals.json", ALT, ALT.replace("U/L", "mg/dL"), "has the unit mg/dL, expected a unit of ALT"],
  ["reference-intervals.json", ALT, ALT.replace('"ALT"', '"ALX"'), "is of ALX, an unknown analyte"],
  ["reference-intervals.json", ALT, ALT.replace('"ALT"', '"UGLU"'), "is of UGLU, which is an ordinal"],
  ["reference-intervals.json", ALT, ALT.replace('"dog"', '"wolf"'), "dog-any-any-alt-cornell_cobas_2017"],
  ["reference-intervals.json", ALT, ALT.replace("-alt-", "-ast-"), "dog-any-any-ast-cornell_cobas_2017 is duplicate"],
  [
    "reference-intervals.json",
    '"critical_low":"20"',
    '"critical_low":"200"',
    "has the critical_low 200, above the low 167",
  ],
  [
    "reference-intervals.json",
    '"critical_source_id":"wikivet_ecc21"',
    '"critical_source_id":"?"',
    "dog-any-any-plt-dap_2023 has a critical bound without a source",
  ],
  ["reference-intervals.json", '"age_max_days":2191', '"age_max_days":364', "ends before the age at which it starts"],
  ["sources.json", '"cornell_cobas_2017"', '"cornell"', "has no source cornell_cobas_2017"],
  ["ordinal-normals.json", '"UPRO"', '"UPH"', "is of UPH, which is not an ordinal"],
  ["analytes.json", '"factor":0.1', '"factor":0', "HGB"],
  ["analytes.json", '"canonical_unit":"g/dL"', '"canonical_unit":"g/L"', "HGB must start its units with g/L"],
  ["analytes.json", '"loinc":["789-8",', '"loinc":["6690-2",', "6690-2 of RBC is duplicate"],
  ["analytes.json", '"TRBC"', '"WBC"', "wbc names two analytes of HEMATOLOGY"],
  ["analytes.json", '"name":"Urea"', '"name":"Glucose"', "glucose names two analytes of BIOCHEMISTRY"],
  ["analytes.json", '"in_unit":{"%":"LYMP"}', '"in_unit":{"%":"LYMX"}', "LYM has the unknown analyte LYMX"],
  ["analytes.json", '"in_unit":{"%":"LYMP"}', '"in_unit":{"%":"ALT"}', "LYM in % is ALT, which has no such unit"],
  ["analytes.json", '"in_unit":{"%":"LYMP"}', '"in_unit":{}', "LYM is a count and must name its percentage"],
  ["analytes.json", '"word","canonical_unit":null', '"word","canonical_unit":"%"', "CPV is not numeric"],
  ["analytes.json", '"api_code":"COLOR"', '"api_code":"NIT"', "NIT of URINALYSIS of COLOR is duplicate"],
  [
    "breed-caveats.json",
    '"whippet"',
    '"whipet"',
    "sighthound_thyroid has the breed whipet, which species-map.json lacks",
  ],
  ["breed-caveats.json", '"age_below_days":366,', "", "puppy has breeds and an age, or neither"],
  ["breed-caveats.json", '["CREA"]', '["UGLU"]', "greyhound_crea is of UGLU, which has no interval"],
  ["breed-caveats.json", '"not_critical"', '"no_general_interval"', "cavalier_plt has a wrong remark"],
  ["urine-loinc.json", '"2350-7"', '"2345-7"', "2345-7 names an analyte"],
  ["urine-loinc.json", '"2350-7"', '"789-9"', "789-9 names an analyte"],
  ["urine-loinc.json", '"2350-7"', '"15076-3"', "15076-3 is duplicate"],
  ["urine-loinc.json", '"of":"GLU"', '"of":"GLX"', "2350-7 is of GLX, an unknown analyte"],
  ["units.json", '{"unit":"fL"', '{"unit":"fl"', "fL of MCV is missing"],
])("%s with one wrong row is an error that names the row", async (file, from, to, message) => {
  await expect(loadedWith(file, from, to)).rejects.toThrow(message);
});

async function intervalOf(code: string, unit: string, animal: Signalment, file: string, from: string, to: string) {
  const loaded = await loadedWith(file, from, to);
  const analyte = analyteByCode(code);
  if (analyte === undefined) throw new Error(`no analyte ${code}`);
  const result = { analyte, value: 5, comparator: null, ordinal: false, unit, device_range: null, device_flag: null };
  return loaded.assess(result, animal, null).interval_id;
}

function lineOf(row: string): string {
  const lines = readFileSync(join(shared, "data/reference-intervals.json"), "utf8").split("\n");
  return lines.find((line) => line.includes(row)) ?? "";
}

// Cases that the published rows do not cover.

test("a row with an upper age precedes a better ranked one without ages", async () => {
  const ferret = { species: "exotic", subgroup: "ferret", ageDays: 400, sex: null, neutered: null };
  const row = '"id":"exotic-ferret-any-hct-nova_ferret"';
  const ranked = /"quality":"A","rank":0\}/;
  const line = lineOf(row);
  const worse = line.replace(ranked, '"quality":"A","rank":9}');
  expect(worse).not.toBe(line);
  expect(await intervalOf("HCT", "%", ferret, "reference-intervals.json", line, worse)).toBe(
    "exotic-ferret-any-hct-nova_ferret",
  );
});

test("a bird without a subgroup gets no interval, even from a row without a subgroup", async () => {
  const bird = { species: "bird", subgroup: null, ageDays: null, sex: null, neutered: null };
  const row = '"id":"bird-ringneck_parakeet-any-wbc-ringneck_2024","species":"bird",';
  expect(
    await intervalOf("WBC", "10*3/uL", bird, "reference-intervals.json", `${row}"subgroup":"ringneck_parakeet",`, row),
  ).toBeNull();
});

test("the lower id decides between otherwise equal rows", async () => {
  const dog = { species: "dog", subgroup: null, ageDays: null, sex: null, neutered: null };
  const row = '"id":"dog-any-any-alt-dap_2023"';
  const line = lineOf(row);
  const same = line.replace('"rank":1', '"rank":0').replace("alt-dap_2023", "alt-a_dap_2023");
  expect(await intervalOf("ALT", "U/L", dog, "reference-intervals.json", line, same)).toBe(
    "dog-any-any-alt-a_dap_2023",
  );
});
