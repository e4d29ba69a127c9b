import { expect, test } from "vitest";
import { type Analyte, analyteByCode, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { catalogueVersion, chooseInterval, ordinalNormal } from "../../../shared/clinical/reference.ts";
import type { Signalment } from "../../../shared/clinical/signalment.ts";

function analyte(code: string): Analyte {
  const known = analyteByCode(code);
  if (known === undefined) throw new Error(`no analyte ${code}`);
  return known;
}

function signalment(species: string, more: Partial<Signalment> = {}): Signalment {
  return { species, subgroup: null, ageDays: null, sex: null, neutered: null, ...more };
}

function chosen(code: string, of: Signalment, device: string | null = null, includeLowQuality = false): string | null {
  return chooseInterval(analyte(code), of, device, { includeLowQuality })?.id ?? null;
}

test("a row of the device precedes the others, and applies to that device only", () => {
  const dog = signalment("dog");
  expect(chosen("PT", dog)).toBeNull();
  expect(chosen("PT", dog, "Start 4")).toBe("dog-any-any-pt-barbosa_start4_2022");
  expect(chosen("PT", dog, "stago START 4")).toBe("dog-any-any-pt-barbosa_start4_2022");
  expect(chosen("PT", dog, "Start 40")).toBeNull();
  expect(chosen("PT", dog, "Stago STA Compact")).toBe("dog-any-any-pt-bauer_sta_2009");
  expect(chosen("PT", signalment("rabbit"), "MS QuickVet Coag Combo")).toBe("rabbit-any-any-pt-mentre_rabbit_coag-2");
});

test("a row of a rotor needs the words of the rotor in the device's name", () => {
  const parrotlet = signalment("bird", { subgroup: "parrotlet" });
  expect(chosen("GLU", parrotlet, "Abaxis VetScan VS2")).toBeNull();
  expect(chosen("GLU", parrotlet, "Abaxis VetScan VS2 Avian/Reptilian Profile Plus")).toBe(
    "bird-parrotlet-any-glu-parrotlet_thai",
  );
});

test("a row of the subgroup precedes that of the species, and a row of another subgroup does not apply", () => {
  expect(chosen("HCT", signalment("cat"))).toBe("cat-any-any-hct-eclinpath_hemogram");
  expect(chosen("HCT", signalment("cat", { subgroup: "maine_coon" }))).toBe(
    "cat-maine_coon-adult-hct-spada_mainecoon_2015",
  );
  expect(chosen("HCT", signalment("cat", { subgroup: "domestic_shorthair" }))).toBe(
    "cat-any-any-hct-eclinpath_hemogram",
  );
  expect(chosen("HCT", signalment("exotic"))).toBeNull();
  expect(chosen("HCT", signalment("exotic", { subgroup: "guinea_pig" }))).toBe(
    "exotic-guinea_pig-any-hct-hein_gpig_2003",
  );
});

test("an open-ended adult row has no precedence, so the rank decides", () => {
  const adult = signalment("dog", { ageDays: 2000 });
  expect(chosen("CREA", adult)).toBe("dog-any-any-crea-cornell_cobas_2017");
  expect(chosen("TBIL", adult)).toBe("dog-any-any-tbil-cornell_cobas_2017");
});

test("a row with an upper age and a juvenile row precede a row without ages", () => {
  const ferret = signalment("exotic", { subgroup: "ferret" });
  expect(chosen("HCT", { ...ferret, ageDays: 364 })).toBe("exotic-ferret-any-hct-laboklin_ferret");
  expect(chosen("HCT", { ...ferret, ageDays: 365 })).toBe("exotic-ferret-any-hct-nova_ferret");
  expect(chosen("HCT", { ...ferret, ageDays: 2191 })).toBe("exotic-ferret-any-hct-nova_ferret");
  expect(chosen("HCT", { ...ferret, ageDays: 2192 })).toBe("exotic-ferret-any-hct-laboklin_ferret");
  expect(chosen("SDMA", signalment("dog", { ageDays: 100 }))).toBe("dog-any-juvenile-sdma-idexx_sdma_young");
  expect(chosen("SDMA", signalment("dog", { ageDays: 365 }))).toBe("dog-any-juvenile-sdma-idexx_sdma_young");
  expect(chosen("SDMA", signalment("dog", { ageDays: 366 }))).toBe("dog-any-adult-sdma-idexx_sdma_young");
});

test("a row of one sex applies to that sex only", () => {
  const hen = signalment("bird", { subgroup: "chicken", sex: "F" });
  expect(chosen("RBC", hen, null, true)).toBe("bird-chicken-any-rbc-fowl_counts");
  expect(chosen("RBC", { ...hen, sex: "M" }, null, true)).toBeNull();
  expect(chosen("RBC", { ...hen, sex: null }, null, true)).toBeNull();
});

test("the choice is one published row, never a mixture", () => {
  expect(chooseInterval(analyte("PLT"), signalment("dog"), null)).toEqual({
    id: "dog-any-any-plt-dap_2023",
    low: 167,
    high: 480,
    critical_low: 20,
    critical_high: null,
    unit: "10*3/uL",
    source_id: "dap_2023",
    quality: "A",
    text: "167-480",
  });
});

test("an unknown age selects an adult row, never a juvenile row or one with ages", () => {
  expect(chosen("SDMA", signalment("dog"))).toBe("dog-any-adult-sdma-idexx_sdma_young");
  expect(chosen("TT4", signalment("dog"))).toBe("dog-any-adult-tt4-gribbles_tt4_2019");
  const ferret = signalment("exotic", { subgroup: "ferret" });
  expect(chosen("HCT", ferret)).toBe("exotic-ferret-any-hct-laboklin_ferret");
  expect(chosen("BE", ferret)).toBeNull();
  expect(chosen("TT4", signalment("dog", { ageDays: 60 }))).toBeNull();
});

test("a bird or reptile without a subgroup gets no interval", () => {
  for (const each of analytes) {
    for (const species of ["bird", "reptile"]) {
      expect(chosen(each.code, signalment(species, { ageDays: 1000, sex: "F" }), "VetScan VS2", true)).toBeNull();
    }
  }
});

test("an unknown species gets no interval", () => {
  for (const species of ["", "unicorn", "Dog", "other", "constructor"]) {
    for (const each of analytes) expect(chosen(each.code, signalment(species), "VetScan VS2", true)).toBeNull();
  }
});

test("rows of quality C and D are off unless a setting turns them on", () => {
  expect(chosen("GLU", signalment("rabbit"))).toBeNull();
  expect(chosen("GLU", signalment("rabbit"), null, true)).toBe("rabbit-any-any-glu-wabbitwiki");
  expect(chosen("ALB", signalment("dog"), "Skyla Solution")).toBe("dog-any-any-alb-cornell_cobas_2017");
  expect(chosen("ALB", signalment("dog"), "Skyla Solution", true)).toBe("dog-any-any-alb-skyla_capture");
});

test("the normals of urine pads apply at any quality", () => {
  expect(ordinalNormal(analyte("UPRO"), "dog")).toEqual({ id: "dog-any-any-upro-google_answers_urine", high: 0.5 });
  expect(ordinalNormal(analyte("UBIL"), "cat")).toEqual({ id: "cat-any-any-ubil-google_answers_urine", high: 0 });
  expect(ordinalNormal(analyte("UBLD"), "dog")).toBeNull();
  expect(ordinalNormal(analyte("UPRO"), "rabbit")).toBeNull();
});

test("the catalogue has a version", () => {
  expect(catalogueVersion).toMatch(/^[0-9a-f]{12}$/);
});
