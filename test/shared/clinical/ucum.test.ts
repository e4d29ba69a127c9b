import { createRequire } from "node:module";
import { expect, test } from "vitest";
import { Type } from "typebox";
import { type Analyte, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { readData } from "../../../shared/clinical/analytes/data.ts";
import { factorOf } from "../../../shared/clinical/analytes/units.ts";

// The factors compared with a UCUM implementation, which computes them from the units and the molar mass.

interface Ucum {
  convertUnitTo(
    from: string,
    value: number,
    to: string,
    options: { molecularWeight?: number | undefined; charge?: number },
  ): { status: string; toVal: number | null; msg: string[] };
}

const { UcumLhcUtils } = createRequire(import.meta.url)("@lhncbc/ucum-lhc") as {
  UcumLhcUtils: { getInstance(): Ucum };
};
const ucum = UcumLhcUtils.getInstance();

const spelling = new Map(
  readData("units.json", Type.Array(Type.Object({ unit: Type.String(), ucum: Type.String() }))).map((each) => [
    each.unit,
    each.ucum,
  ]),
);

/** Ions with two charges. The other ones have one. */
const DIVALENT = new Set(["CA", "ICA", "ICA74", "IMG", "MG"]);

/** Molar mass of the haemoglobin monomer in g/mol, by which laboratories count. */
const HEMOGLOBIN_MONOMER = 16_114.5;
const masses = new Map([
  ...["HGB", "MCH", "MCHC", "THB"].map((code) => [code, HEMOGLOBIN_MONOMER] as const),
  ["ICA74", 40.078],
  ["IMG", 24.305],
  ["FT4", 776.872],
  ["BAPP", 408.579],
]);

/** Units that mean something else in UCUM: g in 100 mL of cells, a mass of protein per mole of creatinine, particles. */
const NOT_OF_UCUM = ["MCHC %", "UPC mg/mmol", "OSM mmol/kg"];

const factors = analytes.flatMap((analyte) =>
  analyte.units
    .slice(1)
    .flatMap(({ unit }) =>
      NOT_OF_UCUM.includes(`${analyte.code} ${unit}`)
        ? []
        : [[analyte.code, unit, analyte.canonical_unit ?? "", analyte] as const],
    ),
);

function byUcum({ code, molar_mass_g_per_mol }: Analyte, from: string, to: string) {
  const [one = "", other = ""] = [from, to].map((unit) =>
    // The library converts neither international units nor a mass per mole: grams and the reciprocals have the same factor.
    spelling
      .get(unit)
      ?.replace("[IU]", "g")
      .replace(/^mg\/(g|mmol)$/, "1/$1"),
  );
  return ucum.convertUnitTo(one, 1, other, {
    molecularWeight: molar_mass_g_per_mol ?? masses.get(code),
    ...([one, other].some((unit) => unit.startsWith("meq")) && { charge: DIVALENT.has(code) ? 2 : 1 }),
  });
}

test("the catalogue has factors to compare", () => {
  expect(factors.length).toBeGreaterThan(90);
});

test.each(factors)("the factor of %s from %s to %s is that of UCUM", (code, unit, canonical, analyte) => {
  const { status, toVal, msg } = byUcum(analyte, unit, canonical);
  const ours = factorOf(analyte, unit) ?? Number.NaN;
  expect([code, status, msg.join(" ")]).toEqual([code, "succeeded", ""]);
  // Molar masses have five digits, and mm[Hg] in kPa has six.
  expect(Math.abs(ours / Number(toVal) - 1)).toBeLessThan(2e-4);
});
