import * as fc from "fast-check";
import { Type } from "typebox";
import { expect, test } from "vitest";
import { type Analyte, analyteByCode, analytes } from "../../../../shared/clinical/analytes/analytes.ts";
import { readData } from "../../../../shared/clinical/analytes/data.ts";
import { convert, factorOf, readUnit } from "../../../../shared/clinical/analytes/units.ts";

function analyte(code: string): Analyte {
  const known = analyteByCode(code);
  if (known === undefined) throw new Error(`no analyte ${code}`);
  return known;
}

test.each([
  ["WBC", "K/uL", "10*3/uL"],
  ["WBC", "10E3/uL", "10*3/uL"],
  ["WBC", "x10^3/uL", "10*3/uL"],
  ["WBC", "10³/µL", "10*3/uL"],
  ["WBC", "K/\u03bcL", "10*3/uL"],
  ["WBC", "K/UL", "10*3/uL"],
  ["WBC", "m/mm3", "10*3/uL"],
  ["WBC", "G/L", "10*9/L"],
  ["WBC", "10*9/L", "10*9/L"],
  ["RBC", "M/uL", "10*6/uL"],
  ["RBC", "m/uL", "10*6/uL"],
  ["RBC", "T/L", "10*12/L"],
  ["HGB", "G/L", "g/L"],
  ["HGB", "G/DL", "g/dL"],
  ["MCV", "um3", "fL"],
  ["MCV", "µm³", "fL"],
  ["MCH", "Pg", "pg"],
  ["HCT", "ratio", "L/L"],
  ["UPC", "ratio", "{ratio}"],
  ["CREA", "\u00b5mol/L", "umol/L"],
  ["CREA", "\u03bcmol/L", "umol/L"],
  ["CREA", " UMOL/L ", "umol/L"],
  ["ALT", "U/l", "U/L"],
  ["ALT", "IU/L", "U/L"],
  ["PCO2", "mmHg", "mm[Hg]"],
  // Spellings of clinical chemistry's guides and of laboratories in Germany, France, Sweden and the USA.
  ["WBC", "/nL", "10*3/uL"],
  ["RBC", "/pL", "10*6/uL"],
  ["WBC", "Gpt/l", "10*9/L"],
  ["RBC", "Tpt/l", "10*12/L"],
  ["WBC", "x10E9/L", "10*9/L"],
  ["WBC", "10×^9/L", "10*9/L"],
  ["WBC", "10x3/uL", "10*3/uL"],
  ["PLT", "10**3/uL", "10*3/uL"],
  ["PLT", "x10³/µL", "10*3/uL"],
  ["PLT", "x10^3/mm3", "10*3/uL"],
  ["WBC", "10E+09/L", "10*9/L"],
  ["WBC", "10^9·L⁻¹", "10*9/L"],
  ["RBC", "X 10^6 / cumm", "10*6/uL"],
  ["WBC", "K/mcL", "10*3/uL"],
  ["HCT", "vol%", "%"],
  ["HCT", "Vol. %", "%"],
  ["PT", "sec.", "s"],
  ["NRBC", "/100 WBC", "%"],
  ["OSM", "mmol/kg", "mmol/kg"],
  ["OSM", "mosmol/kg", "mOsm/kg"],
  ["OSM", "mOsm/kgH2O", "mOsm/kg"],
  ["OSM", "mOsm/kg H2O", "mOsm/kg"],
  ["TT4", "ug/L", "ug/L"],
  ["TT4", "mcg/dL", "ug/dL"],
  ["CTSH", "µg/L", "ug/L"],
  ["ICA", "mEq/L", "mEq/L"],
  ["ICA74", "mg/dL", "mg/dL"],
  ["IMG", "mEq/L", "mEq/L"],
  ["LAC", "mEq/L", "mEq/L"],
  ["TNT", "ng/L", "ng/L"],
  ["FT4", "ng/L", "ng/L"],
  ["SAA", "ng/mL", "ng/mL"],
  ["BAPP", "mg/L", "mg/L"],
  ["CREA", "mg/L", "mg/L"],
  ["GLU", "g/L", "g/L"],
  ["UCREA", "g/L", "g/L"],
  ["GLU", "mg/100 ml", "mg/dL"],
  ["HGB", "gm/dl", "g/dL"],
  ["URIC", "mmol/L", "mmol/L"],
  ["NH3", "mmol/L", "mmol/L"],
  ["UPC", "mg/mmol", "mg/mmol"],
  ["UUBGN", "E.U./dL", "EU/dL"],
  ["ACE", "µkat/L", "ukat/L"],
  ["CHE", "kU/L", "kU/L"],
  ["AMYL", "U/dL", "U/dL"],
  ["ALT", "U.L-1", "U/L"],
])("%s in %s is %s", (code, spelling, unit) => {
  expect(readUnit(analyte(code), spelling, 0.5)).toEqual({ unit, warning: null });
});

test.each([
  ["GLU", "K/uL"],
  ["GLU", "kg/L"],
  ["ALT", "mg/dL"],
  ["WBC", "M/mm3"],
  ["WBC", "M/uL"],
  ["RBC", "m/mm3"],
  ["UGLU", "mg/dL"],
  ["HGB", "10*9/L"],
  ["GLU", "{ratio}"],
])("%s has no unit %s, which is never guessed", (code, spelling) => {
  expect(readUnit(analyte(code), spelling, 10)).toEqual({
    unit: null,
    warning: expect.stringContaining(`is not a unit of ${code}`),
  });
});

test("every unit is read by its own name for every analyte with it", () => {
  for (const each of analytes.filter((candidate) => candidate.value_type === "numeric")) {
    for (const { unit } of each.units) expect(readUnit(each, unit, 0.5)).toEqual({ unit, warning: null });
  }
});

test("a missing unit is the only one of the analyte, the hematocrit's fraction, or null", () => {
  expect(readUnit(analyte("MCV"), "", 70)).toEqual({ unit: "fL", warning: null });
  expect(readUnit(analyte("USG"), " ", 1.03)).toEqual({ unit: "{SG}", warning: null });
  expect(readUnit(analyte("HCT"), "", 0.431)).toEqual({ unit: "L/L", warning: null });
  expect(readUnit(analyte("HCT"), "", 43.1)).toEqual({ unit: null, warning: "no unit for HCT, expected % or L/L" });
  expect(readUnit(analyte("HCT"), "%", 0.431)).toEqual({ unit: "%", warning: null });
  expect(readUnit(analyte("GLU"), "", 95)).toEqual({
    unit: null,
    warning: "no unit for GLU, expected mg/dL or mmol/L or mg/L or g/L",
  });
  expect(readUnit(analyte("UPC"), "", 0.5)).toEqual({ unit: "{ratio}", warning: null });
  expect(readUnit(analyte("K"), "", 4).unit).toBeNull();
  expect(readUnit(analyte("SAA"), "", 5).unit).toBeNull();
});

test("a platelet width without a unit is a relative one, not femtolitres", () => {
  expect(readUnit(analyte("PDW"), "", 15.8)).toEqual({ unit: null, warning: "no unit for PDW, expected fL" });
  expect(readUnit(analyte("PDW"), "um3", 15.8)).toEqual({ unit: "fL", warning: null });
});

test("a pad's ordinal has no unit and no warning", () => {
  expect(readUnit(analyte("UGLU"), "", 2)).toEqual({ unit: null, warning: null });
});

// Factors from printed tables, conventional to SI. The tolerance is one unit of the last digit, since tables round and cut.
// The table omits avian_appendix's 0.3670 for BUN mg/dL to mmol urea/L, an error of the source: 10 / 28.014 is 0.3570.
test.each([
  ["ALB", "g/dL", "g/L", "10", "avian_appendix, vetfield_t73"],
  ["TBIL", "mg/dL", "umol/L", "17.1", "avian_appendix, vetfield_t73"],
  ["CA", "mg/dL", "mmol/L", "0.25", "avian_appendix, vetfield_t73"],
  ["CHOL", "mg/dL", "mmol/L", "0.02586", "avian_appendix"],
  ["CORT", "ug/dL", "nmol/L", "27.59", "avian_appendix"],
  ["CREA", "mg/dL", "umol/L", "88.4", "avian_appendix, vetfield_t73"],
  ["GLU", "mg/dL", "mmol/L", "0.05551", "avian_appendix"],
  ["GLU", "mg/dL", "mmol/L", "0.055", "vetfield_t73"],
  ["FE", "ug/dL", "umol/L", "0.1791", "avian_appendix"],
  ["MG", "mg/dL", "mmol/L", "0.4114", "avian_appendix"],
  ["PHOS", "mg/dL", "mmol/L", "0.3229", "avian_appendix"],
  ["TT4", "ug/dL", "nmol/L", "12.87", "avian_appendix"],
  ["TRIG", "mg/dL", "mmol/L", "0.01129", "avian_appendix"],
  ["UREA", "mg/dL", "mmol/L", "0.167", "avian_appendix"],
  ["URIC", "mg/dL", "umol/L", "59.48", "avian_appendix, its unit misprinted mmol/l"],
  ["NH3", "ug/dL", "umol/L", "0.5871", "avian_appendix"],
  ["PCO2", "mm[Hg]", "kPa", "0.1333", "avian_appendix, its unit misprinted Pa"],
])("the factor of %s from %s to %s is %s in %s, and its inverse back", (code, from, to, printed) => {
  const factor = Number(printed);
  const lastDigit = 10 ** -(printed.split(".")[1]?.length ?? 0);
  const there = convert(analyte(code), 1, from, to) ?? Number.NaN;
  const back = convert(analyte(code), 1, to, from) ?? Number.NaN;
  expect(Math.abs(there - factor)).toBeLessThan(lastDigit);
  expect(back).toBeGreaterThan(1 / (factor + lastDigit));
  expect(back).toBeLessThan(1 / (factor - lastDigit));
});

/** Returns half of the last printed digit. */
function half(printed: string): number {
  return 0.5 * 10 ** -(printed.split(".")[1]?.length ?? 0);
}

// Measurements that a source prints in both unit systems: they are equal within the rounding of both.
test.each([
  ["CA", "1.79", "mmol/L", "7.16", "mg/dL", "psittacine_wild_pairs"],
  ["PHOS", "6.53", "mmol/L", "20.22", "mg/dL", "psittacine_wild_pairs"],
  ["FE", "109", "umol/L", "609", "ug/dL", "psittacine_wild_pairs"],
  ["FE", "57", "umol/L", "318", "ug/dL", "psittacine_wild_pairs"],
  ["FE", "90", "umol/L", "503", "ug/dL", "psittacine_wild_pairs"],
  ["FE", "107", "umol/L", "598", "ug/dL", "psittacine_wild_pairs"],
  ["FE", "59", "umol/L", "330", "ug/dL", "psittacine_wild_pairs"],
  ["TBIL", "5.13", "umol/L", "0.3", "mg/dL", "idexx_crea_2017"],
  ["CREA", "203", "umol/L", "2.3", "mg/dL", "idexx_crea_2017"],
])("%s of %s %s equals %s %s, as in %s", (code, one, oneUnit, other, otherUnit) => {
  const to = (printed: string, from: string, into: string, step = 0) =>
    convert(analyte(code), Number(printed) + step * half(printed), from, into) ?? Number.NaN;
  expect(to(one, oneUnit, otherUnit, -1)).toBeLessThanOrEqual(Number(other) + half(other));
  expect(to(one, oneUnit, otherUnit, 1)).toBeGreaterThanOrEqual(Number(other) - half(other));
  expect(to(other, otherUnit, oneUnit, -1)).toBeLessThanOrEqual(Number(one) + half(one));
  expect(to(other, otherUnit, oneUnit, 1)).toBeGreaterThanOrEqual(Number(one) - half(one));
});

test("molar factors are the analyte's molar mass", () => {
  const perLitre: Record<string, number> = { "mmol/L": 1e-3, "umol/L": 1e-6, "nmol/L": 1e-9 };
  const gramsPerLitre: Record<string, number> = { "mg/dL": 1e-2, "ug/dL": 1e-5 };
  const compared: string[] = [];
  for (const { code, molar_mass_g_per_mol: mass, canonical_unit, units } of analytes) {
    const canonical = gramsPerLitre[canonical_unit ?? ""];
    if (mass === undefined || canonical === undefined) continue;
    for (const { unit, factor } of units) {
      const moles = perLitre[unit];
      if (moles === undefined) continue;
      compared.push(`${code} ${unit}`);
      expect(Math.abs(factor / ((moles * mass) / canonical) - 1)).toBeLessThan(1e-4);
    }
  }
  expect(compared.length).toBeGreaterThan(15);
});

test("powers of ten are exact both ways", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000_000 }), (count) => {
      const thousands = count / 1000;
      const millions = count / 1_000_000;
      expect(convert(analyte("WBC"), thousands, "10*3/uL", "10*9/L")).toBe(thousands);
      expect(convert(analyte("WBC"), count, "/uL", "10*9/L")).toBe(thousands);
      expect(convert(analyte("WBC"), count, "10*6/L", "10*9/L")).toBe(thousands);
      expect(convert(analyte("RBC"), count, "/uL", "10*12/L")).toBe(millions);
      expect(convert(analyte("RBC"), millions, "10*6/uL", "10*12/L")).toBe(millions);
      expect(convert(analyte("HCT"), count / 100, "%", "L/L")).toBe(count / 100 / 100);
      expect(convert(analyte("ALB"), count / 10, "g/dL", "g/L")).toBe((count / 10) * 10);
    }),
  );
});

test("a conversion and its inverse return the same value for every analyte and unit", () => {
  for (const each of analytes) {
    for (const { unit: from } of each.units) {
      for (const { unit: to } of each.units) {
        const there = convert(each, 12.34, from, to) ?? Number.NaN;
        expect(Math.abs((convert(each, there, to, from) ?? Number.NaN) / 12.34 - 1)).toBeLessThan(1e-12);
      }
    }
  }
});

test("urea nitrogen and urea agree in mmol/L and are 2.1438 apart in mg/dL", () => {
  const bun = convert(analyte("BUN"), 5, "mmol/L", "mg/dL") ?? Number.NaN;
  const urea = convert(analyte("UREA"), 5, "mmol/L", "mg/dL") ?? Number.NaN;
  expect(urea / bun).toBeCloseTo(2.1438, 4);
  expect(bun).toBeCloseTo(14.007, 10);
  expect(analyte("BUN")).not.toBe(analyte("UREA"));
});

test("a unit that the analyte lacks, or without an exact factor, converts to null", () => {
  expect(factorOf(analyte("GLU"), "kg/L")).toBeNull();
  expect(convert(analyte("GLU"), 5, "kg/L", "mg/dL")).toBeNull();
  expect(convert(analyte("GLU"), 5, "mg/dL", "kg/L")).toBeNull();
  expect(convert(analyte("UUBGN"), 5, "EU/dL", "umol/L")).toBeNull();
});

// Values of one concentration, printed in two units: guides and unit-systems.json.
test.each([
  ["GLU", 1, "g/L", 100, "mg/dL"],
  ["CREA", 10, "mg/L", 1, "mg/dL"],
  ["TT4", 10, "ug/L", 1, "ug/dL"],
  ["ICA", 2.5, "mEq/L", 1.25, "mmol/L"],
  ["SAA", 1, "mg/dL", 10, "mg/L"],
  ["SAA", 1000, "ng/mL", 1, "mg/L"],
  ["TNT", 14, "ng/L", 0.014, "ng/mL"],
  ["UPC", 113.12, "mg/mmol", 1, "{ratio}"],
  ["ACE", 1, "ukat/L", 60, "U/L"],
  ["CHE", 5, "kU/L", 5000, "U/L"],
  ["AMYL", 100, "U/dL", 1000, "U/L"],
  ["NH3", 0.05, "mmol/L", 50, "umol/L"],
] as const)("%s of %d %s is %d %s", (code, value, from, expected, to) => {
  expect(convert(analyte(code), value, from, to)).toBeCloseTo(expected, 9);
});

test("no spelling of a unit means another unit of the same analyte", () => {
  const rows = readData(
    "units.json",
    Type.Array(Type.Object({ unit: Type.String(), aliases: Type.Array(Type.String()) })),
  );
  const wrong: string[] = [];
  for (const each of analytes.filter(({ value_type }) => value_type === "numeric")) {
    for (const { unit, aliases } of rows.filter((row) => each.units.some((own) => own.unit === row.unit))) {
      for (const spelling of [...aliases, ...aliases.map((alias) => alias.toUpperCase())].filter(Boolean)) {
        // M may be mille or mega: the exact spelling decides.
        if (spelling.startsWith("M/")) continue;
        const found = readUnit(each, spelling, 0.5).unit;
        if (found !== unit) wrong.push(`${each.code} ${spelling}: ${found}, expected ${unit}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});
