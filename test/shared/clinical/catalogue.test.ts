import * as fc from "fast-check";
import { Type } from "typebox";
import { expect, test } from "vitest";
import {
  type Analyte,
  analyteByCode,
  analytes,
  findAnalyte,
  foldName,
  isUrineOnly,
  type NameContext,
} from "../../../shared/clinical/analytes/analytes.ts";
import { readData } from "../../../shared/clinical/analytes/data.ts";
import { readUnit } from "../../../shared/clinical/analytes/units.ts";

// The complete catalogue: every name finds its analyte, in any writing, and no name finds another one.

const MODALITIES = [null, "HEMATOLOGY", "BIOCHEMISTRY", "URINALYSIS"] as const;
const contexts: readonly NameContext[] = MODALITIES.flatMap((modality) =>
  [false, true].map((urine) => ({ modality, urine })),
);

/** Returns each code, name and synonym with its analyte. */
const named = analytes.flatMap((each) => [each.code, each.name, ...each.synonyms].map((name) => [name, each] as const));

function ownersOf(name: string): Analyte[] {
  const owners = named.filter(([other]) => foldName(other) === foldName(name)).map(([, owner]) => owner);
  return [...new Set(owners)];
}

function found(names: string | readonly string[], context: Partial<NameContext> = {}): string | null {
  const list = typeof names === "string" ? [names] : names;
  return findAnalyte(list, { modality: null, urine: false, ...context })?.analyte.code ?? null;
}

function analyte(code: string): Analyte {
  const known = analyteByCode(code);
  if (known === undefined) throw new Error(`no analyte ${code}`);
  return known;
}

/** Returns the reasons for which a name of an analyte may find nothing. */
function refusals(name: string, { modality, urine }: NameContext): string[] {
  const owners = ownersOf(name);
  const isUrine = urine || modality === "URINALYSIS";
  const isBloodDevice = modality === "HEMATOLOGY" || modality === "BIOCHEMISTRY";
  const pads = owners.filter((owner) => owner.modality === "URINALYSIS" && owner.value_type !== "numeric");
  const ofBlood = owners.filter((owner) => owner.modality !== "URINALYSIS");
  return [
    isUrine && ofBlood.length === owners.length ? "a blood analyte in urine" : "",
    isUrine && isBloodDevice && owners.length > 1 ? "urine on a blood analyzer" : "",
    !isUrine && isBloodDevice && pads.length === owners.length ? "a pad's mnemonic on a blood analyzer" : "",
    !isUrine && modality === null && ofBlood.length > 1 ? "two analytes of blood" : "",
    name === "PCT" && modality === "BIOCHEMISTRY" ? "procalcitonin" : "",
  ].filter((reason) => reason !== "");
}

test("every name and LOINC code finds its own analyte in the analyte's specimen", () => {
  for (const each of analytes) {
    const context = { modality: each.modality, urine: each.modality === "URINALYSIS" };
    for (const name of [each.code, each.name, ...each.loinc, ...each.synonyms]) {
      expect([name, findAnalyte([name], context)?.analyte.code]).toEqual([name, each.code]);
    }
  }
});

test("in any other specimen a name finds an analyte that has it, or nothing for a known reason", () => {
  const wrong = named.flatMap(([name]) => {
    const owners = new Set(ownersOf(name).map(({ code }) => code));
    return contexts.flatMap((context) => {
      const code = found(name, context);
      const isRight = code === null ? refusals(name, context).length > 0 : owners.has(code);
      return isRight ? [] : [{ name, context, code }];
    });
  });
  expect(wrong).toEqual([]);
});

/** A LOINC code has one writing. */
const LOINC = /^\d+-\d$/;

/** Separators between the words of a name. */
const SEPARATORS = ["_", "-", " ", "__", " - ", "\u00a0", "\u2013", "\u2011", "\u2212", "\uff3f"];

test("underscores, dashes, blanks, case and full-width letters make no other name", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...named.map(([name]) => name).filter((name) => !LOINC.test(name))),
      fc.constantFrom(...SEPARATORS),
      fc.constantFrom(...contexts),
      fc.constantFrom<(text: string) => string>(
        (text) => text.toUpperCase(),
        (text) => text.toLowerCase(),
        (text) => text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
        (text) => `  ${text} `,
      ),
      (name, separator, context, written) => {
        const other = written(name.replace(/[\s_-]+/g, separator));
        expect([other, found(other, context)]).toEqual([other, found(name, context)]);
      },
    ),
    { numRuns: 2000 },
  );
});

test.each([
  ["RDW_CV", "RDW"],
  ["rdw sd", "RDWSD"],
  ["P_LCR", "PLCR"],
  ["P LCC", "PLCC"],
  ["RDW\u2011CV", "RDW"],
  ["Na\u207a", "NA"],
  ["Glucose", "GLU"],
  ["GAMMA GT", "GGT"],
  ["Urea Nitrogen", "BUN"],
])("%s is %s", (name, code) => {
  expect(found(name)).toBe(code);
});

test("a fold of a fold is the same, for any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(foldName(foldName(text))).toBe(foldName(text));
    }),
    { numRuns: 2000 },
  );
  for (const text of ["\ud800", "\u0130", "\u1e9e", "Cl-", "-", "_", "", "\u00a8"]) {
    expect(foldName(foldName(text))).toBe(foldName(text));
  }
  for (const text of ["", "-", "_", " "]) expect(found(text)).toBeNull();
});

const PERCENTAGES = ["%", " % ", "PCT", "percent"];

test.each([
  ["LYM", "LYMP"],
  ["LYM#", "LYMP"],
  ["MON", "MONOP"],
  ["NEU", "NEUP"],
  ["EOS", "EOSP"],
  ["BASO", "BASOP"],
  ["GRAN", "GRAP"],
  ["MID", "MIDP"],
  ["MXD", "MIDP"],
  ["IG", "IGP"],
  ["RETIC", "RETICP"],
  ["ALY", "ALYP"],
  ["LIC", "LICP"],
  ["BAND", "BANDP"],
  ["NRBC#", "NRBC"],
  ["P-LCC", "PLCR"],
  ["731-0", "LYMP"],
  ["WBC", null],
  ["RBC", null],
  ["PLT", null],
  ["AZU", null],
])("%s with a percentage is %s, never the count", (name, code) => {
  for (const unit of PERCENTAGES) {
    expect([unit, found(name, { modality: "HEMATOLOGY", unit })]).toEqual([unit, code]);
  }
});

test("no count is found by any of its names with a percentage", () => {
  for (const { code, modality, canonical_unit, synonyms, loinc } of analytes) {
    if (canonical_unit !== "10*9/L" && canonical_unit !== "10*12/L") continue;
    for (const name of [code, ...synonyms, ...loinc]) {
      for (const unit of PERCENTAGES) expect(found(name, { modality, unit })).not.toBe(code);
      for (const unit of ["", "10^9/L", "furlong"]) expect(found(name, { modality, unit })).toBe(code);
    }
  }
});

test.each([
  ["URO", "umol/L", "UUBGN"],
  ["URO", "\u00b5mol/L", "UUBGN"],
  ["URO", "mg/dL", "UUBGN"],
  ["URO", "", "UUBG"],
  ["HbA1c", "%", "HBA1C"],
  ["HBA1C", "mmol/mol", "HBA1CI"],
  ["HBA1CI", "%", "HBA1C"],
  ["BUN/CRE", "", "BUNCR"],
  ["BUN/CRE", "mg/mg", "BUNCR"],
  ["BUN/CRE", "(SI)", "BUNCRM"],
  ["PDW", "%", "PDWCV"],
  ["PDW", "fL", "PDW"],
  ["CK-MB", "ng/mL", "CKMBM"],
  ["CK-MB", "U/L", "CKMB"],
  ["NRBC", "10*9/L", "NRBCA"],
  ["NRBC", "/100 WBC", "NRBC"],
] as const)("%s in %j is %s", (name, unit, code) => {
  expect(found(name, { unit })).toBe(code);
});

test("the note names the analyte that the unit excludes", () => {
  expect(findAnalyte(["LYM"], { modality: "HEMATOLOGY", urine: false, unit: "%" })).toEqual({
    analyte: analyteByCode("LYMP"),
    note: "LYM in % is not LYM: taken as LYMP",
  });
});

test("the middle cells of a three-part counter are not monocytes", () => {
  for (const name of ["MID#", "Mid#", "MXD#", "MIDA", "10027^99MRC", "32154-7"]) expect(found(name)).toBe("MID");
  for (const name of ["MID%", "Mid%", "MXD%", "MIDR", "10029^99MRC", "32155-4"]) expect(found(name)).toBe("MIDP");
  for (const name of ["MONO", "MON#", "MONA"]) expect(found(name)).toBe("MONO");
});

const urineLoinc = readData(
  "urine-loinc.json",
  Type.Array(Type.Object({ loinc: Type.String(), of: Type.String(), source_id: Type.String() })),
);

test("a LOINC of urine without an analyte finds nothing, whatever comes with it", () => {
  expect(urineLoinc.length).toBe(36);
  for (const { loinc, of } of urineLoinc) {
    const { name, synonyms, loinc: own } = analyte(of);
    for (const context of contexts) {
      for (const beside of [of, name, ...synonyms, ...own]) {
        expect(found([loinc, beside], context)).toBeNull();
        expect(found([beside, ` ${loinc} `], context)).toBeNull();
      }
    }
    expect(isUrineOnly(loinc)).toBe(false);
  }
});

test("albumin, creatinine and their ratio of urine are not blood analytes, nor do they make an order a urine order", () => {
  for (const code of ["UALB", "UCREA", "ACR"]) {
    expect(analyte(code)).toMatchObject({ modality: "URINALYSIS", specimen: "urine" });
    for (const name of [code, analyte(code).name, ...analyte(code).loinc]) {
      expect(found(name, { modality: "BIOCHEMISTRY", urine: true })).toBe(code);
      expect(isUrineOnly(name)).toBe(false);
    }
  }
  for (const name of ["ALB", "Albumin", "CREA", "Creatinine", "Ratio"]) {
    expect(found(name, { modality: "BIOCHEMISTRY", urine: true })).toBeNull();
  }
});

test("a mnemonic of urine decides against a bare name, and a LOINC code against both", () => {
  for (const modality of ["BIOCHEMISTRY", null] as const) {
    for (const names of [
      ["UCREA^L", "Creatinine", "UCREA"],
      ["Creatinine", "UCREA"],
      ["UCREA", "CREA"],
    ]) {
      expect(found(names, { modality })).toBe("UCREA");
    }
    expect(found(["Albumin", "UALB"], { modality })).toBe("UALB");
    expect(found(["2160-0", "UCREA"], { modality })).toBe("CREA");
  }
});

test("names that laboratories set, or that mean two things, are not spellings of the catalogue", () => {
  const names = [
    ["COL", "GLI", "TRI", "URE", "ALTT", "CHOO", "TGG", "CRR", "TBILL", "GluP", "CREA3", "COL_R", "TRIGL_R"],
    ["040", "050", "001", "002", "413", "685", "Ratio", "UREA-BUN-UV", "PTT", "IC"],
  ].flat();
  for (const name of names) for (const context of contexts) expect([name, found(name, context)]).toEqual([name, null]);
});

test.each([
  ["CPV Ag", "CPV", "BIOCHEMISTRY"],
  ["BN0330-2", "CCV", "BIOCHEMISTRY"],
  ["CAV Ab", "CAVAB", "BIOCHEMISTRY"],
  ["FeLV", "FELV", "BIOCHEMISTRY"],
  ["FeLV Ag", "FELV", null],
  ["FIV Ab", "FIV", null],
  ["Heartworm", "HW", null],
  ["FIV", "FIV", null],
  ["HW", "HW", null],
  ["SDB-M1003-03", "ANAPLASMAPCR", null],
  ["5778-6", "COLOR", "URINALYSIS"],
  ["CLA", "CLARITY", "URINALYSIS"],
] as const)("%s is %s, a word without a unit", (name, code, modality) => {
  expect(found(name, { modality })).toBe(code);
  const word = analyte(code);
  expect(word).toMatchObject({ value_type: "word", canonical_unit: null, units: [] });
  expect(readUnit(word, "", 1)).toEqual({ unit: null, warning: null });
});

test("every LOINC of a source has that source in sources.json", () => {
  const sources = new Set(readData("sources.json", Type.Array(Type.Object({ id: Type.String() }))).map(({ id }) => id));
  const cited = analytes.flatMap(({ loinc_source }) =>
    (loinc_source ?? "").split(";").flatMap((part) => (part.split(":").at(-1) ?? "").split(",")),
  );
  const ids = [...cited, ...urineLoinc.map(({ source_id }) => source_id)].map((id) => id.trim());
  expect(ids.filter((id) => id !== "" && !sources.has(id))).toEqual([]);
});

test.each([
  ["HCT", "L/L", 43.1],
  ["HCT", "%", 101],
  ["LYMP", "%", 2400],
  ["SO2", "%", 150],
  ["HGB", "g/dL", 135],
  ["MCHC", "g/dL", 336],
  ["ALB", "g/L", 3200],
  ["RBC", "10^12/L", 6720],
  ["RBC", "M/uL", 6720],
  ["PH", "pH", 74],
  ["USG", "SG", 1025],
])("%s in %s is never %d: the value keeps its unit and gets a doubt", (code, spelling, value) => {
  const reading = readUnit(analyte(code), spelling, value);
  expect(reading).toEqual({ unit: expect.any(String), warning: null, doubt: expect.stringContaining(" is above ") });
  expect(reading.doubt).toContain(`${value} ${reading.unit}`);
});

test.each([
  ["HCT", "L/L", 1],
  ["HCT", "%", 100],
  ["NRBC", "%", 240],
  ["RDW", "%", 101],
  ["HGB", "g/L", 135],
  ["MCHC", "%", 36],
  ["RBC", "10*12/L", 24],
  ["USG", "", 1.045],
])("%s in %s may be %d", (code, spelling, value) => {
  expect(readUnit(analyte(code), spelling, value)).toEqual({ unit: expect.any(String), warning: null });
});

test("no unit is guessed for a value that it makes impossible", () => {
  expect(readUnit(analyte("LYMP"), "", 2400)).toEqual({
    unit: null,
    warning: "no unit for LYMP, expected %; 2400 % is above 100 %: a part is not more than the whole",
  });
  expect(readUnit(analyte("HCT"), "", 1.2)).toEqual({ unit: null, warning: "no unit for HCT, expected % or L/L" });
  expect(readUnit(analyte("USG"), "", 1025).unit).toBeNull();
});

test.each(["1", "2", "3", "4", "15", "26", "10)/mm)", "5m)"])("%j is no unit of any analyte", (spelling) => {
  for (const each of analytes) expect([each.code, readUnit(each, spelling, 0.4).unit]).toEqual([each.code, null]);
});

test.each([
  ["TSH", "mIU/L", "mIU/L"],
  ["TSH", "uIU/ml", "uIU/mL"],
  ["FT4", "ng/dl", "ng/dL"],
  ["FT4", "pg/mL", "pg/mL"],
  ["ACR", "mg/g", "mg/g"],
  ["ACR", "mg/mmol", "mg/mmol"],
  ["HBA1CI", "mmol/mol", "mmol/mol"],
  ["OSMC", "mOsm/L", "mOsm/L"],
  ["PROG", "nmol/l", "nmol/L"],
  ["SAA", "\u03bcg/mL", "mg/L"],
  ["BUNCRM", "(SI)", "{ratio}"],
  ["AGR", "mg/mg", "{ratio}"],
  ["PT", "S", "s"],
  ["INR", "INR ISI", "{INR}"],
])("%s in %s is %s", (code, spelling, unit) => {
  expect(readUnit(analyte(code), spelling, 0.5)).toEqual({ unit, warning: null });
});
