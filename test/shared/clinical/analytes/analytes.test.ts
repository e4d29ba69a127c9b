import { expect, test } from "vitest";
import { analyteByCode, analytes, findAnalyte, isUrineOnly } from "../../../../shared/clinical/analytes/analytes.ts";
import type { Modality } from "../../../../shared/api/study.ts";

function found(name: string, modality: Modality | null = null, urine = false): string | null {
  return findAnalyte([name], { modality, urine })?.analyte.code ?? null;
}

test("the catalogue holds 176 analytes, with the codes of the API", () => {
  expect(analytes.length).toBe(176);
  expect(analyteByCode("UGLU")?.api_code).toBe("GLU");
  expect(analyteByCode("XYZ")).toBeUndefined();
});

test("a LOINC code decides, whatever its specimen and mnemonic", () => {
  expect(findAnalyte(["2345-7", "UGLU"], { modality: "URINALYSIS", urine: true })).toEqual({
    analyte: analyteByCode("GLU"),
    note: null,
  });
  expect(found("5792-7", "BIOCHEMISTRY")).toBe("UGLU");
  expect(found("25428-4", "BIOCHEMISTRY")).toBe("UGLU");
  expect(found("51637-7", "BIOCHEMISTRY")).toBe("PCT");
});

test("the first known name is taken, in any case and with blanks around it", () => {
  expect(findAnalyte(["99999-9", "685", " crea "], { modality: null, urine: false })?.analyte.code).toBe("CREA");
  expect(found("alk p")).toBe("ALP");
  expect(found("10002^99MRC")).toBe("PCT");
  expect(found("*ALY#")).toBe("ALY");
});

test("every code, LOINC code and synonym finds its analyte in the right specimen", () => {
  for (const analyte of analytes) {
    const context = { modality: analyte.modality, urine: analyte.modality === "URINALYSIS" };
    for (const name of [analyte.code, ...analyte.loinc, ...analyte.synonyms]) {
      expect([name, findAnalyte([name], context)?.analyte.code]).toEqual([name, analyte.code]);
    }
  }
});

/** LOINC codes that name another finding than a strip's rank: microscopy, sight, a mass, a count; or another unit than ours. */
const WRONG = [
  ["ULEU", "20455-2"],
  ["UBLD", "53963-5"],
  ["UGLU", "5792-7"],
  ["UKET", "5797-6"],
  ["UUBG", "20405-7"],
  ["UBAC", "5769-5"],
  ["ALB", "54347-0"],
] as const;

test("a LOINC code of another finding is read as devices mean it, and is not a code of the analyte", () => {
  for (const [code, loinc] of WRONG) {
    expect([loinc, found(loinc)]).toEqual([loinc, code]);
    expect(analyteByCode(code)?.loinc_read_only).toEqual([loinc]);
  }
  const sent = analytes.flatMap(({ loinc }) => loinc);
  expect(WRONG.filter(([, loinc]) => sent.includes(loinc))).toEqual([]);
});

test("a strip's code names the presence on a strip, and an amount of urobilinogen keeps the code of a mass", () => {
  expect(["ULEU", "UBLD", "UGLU", "UPRO", "UKET"].map((code) => analyteByCode(code)?.loinc)).toEqual([
    ["5799-2"],
    ["5794-3"],
    ["25428-4"],
    ["20454-5"],
    ["2514-8"],
  ]);
  expect(findAnalyte(["20405-7"], { modality: "URINALYSIS", urine: true, unit: "mg/dL" })?.analyte.code).toBe("UUBGN");
});

test("an unknown code is null, never guessed", () => {
  for (const name of ["", " ", "685", "GLUCOSEX", "constructor", "__proto__"]) expect(found(name)).toBeNull();
  expect(findAnalyte([], { modality: null, urine: false })).toBeNull();
});

test.each([
  ["GLU", "BIOCHEMISTRY", false, "GLU"],
  ["GLU", "HEMATOLOGY", false, "GLU"],
  ["GLU", "URINALYSIS", false, "UGLU"],
  ["GLU", null, true, "UGLU"],
  ["GLU", null, false, "GLU"],
  ["LEU", "HEMATOLOGY", false, "WBC"],
  ["LEU", "BIOCHEMISTRY", false, "WBC"],
  ["LEU", null, true, "ULEU"],
  ["ERY", null, false, "RBC"],
  ["ERY", "URINALYSIS", false, "UBLD"],
  ["HB", "HEMATOLOGY", false, "HGB"],
  ["Hb", null, true, "UBLD"],
  ["pH", "BIOCHEMISTRY", false, "PH"],
  ["pH", null, false, "PH"],
  ["PH", "URINALYSIS", false, "UPH"],
  ["PH", null, true, "UPH"],
  ["TPP", "HEMATOLOGY", false, "TSOL"],
  ["TPP", "BIOCHEMISTRY", false, "TP"],
] as const)("%s with modality %s and urine %s is %s, and the note says so", (name, modality, urine, code) => {
  expect(findAnalyte([name], { modality, urine })).toEqual({
    analyte: analyteByCode(code),
    note: expect.stringContaining(`taken as ${code}`),
  });
});

test("the note of a choice names both analytes and the reason", () => {
  expect(findAnalyte(["GLU"], { modality: null, urine: true })?.note).toBe(
    "GLU names GLU and UGLU: taken as UGLU, the order is a urine order",
  );
});

test("a mnemonic that neither modality nor specimen decides is null", () => {
  expect(found("TPP")).toBeNull();
  expect(found("GLU", "BIOCHEMISTRY", true)).toBeNull();
});

test("UA is uric acid on an avian rotor, and null in a urine order", () => {
  expect(found("UA", "BIOCHEMISTRY")).toBe("URIC");
  expect(found("UA", "URINALYSIS")).toBeNull();
  expect(found("UA", null, true)).toBeNull();
});

test("granulocytes are not neutrophils", () => {
  expect(found("GRA", "HEMATOLOGY")).toBe("GRA");
  expect(found("Gran%", "HEMATOLOGY")).toBe("GRAP");
  expect(found("NEUT#", "HEMATOLOGY")).toBe("NEU");
});

test("PCT is plateletcrit in hematology, and null in chemistry, where it may be procalcitonin", () => {
  expect(found("PCT", "HEMATOLOGY")).toBe("PCT");
  expect(found("PCT")).toBe("PCT");
  expect(found("PCT", "BIOCHEMISTRY")).toBeNull();
});

test("blood analytes are not found in urine, nor urine pads on a blood analyzer", () => {
  expect(found("CREA", "URINALYSIS")).toBeNull();
  expect(found("WBC", null, true)).toBeNull();
  expect(found("BIL", "BIOCHEMISTRY")).toBeNull();
  expect(found("UBIL", "BIOCHEMISTRY")).toBe("UBIL");
  expect(found("BIL", null, true)).toBe("UBIL");
  expect(found("UPC", "BIOCHEMISTRY")).toBe("UPC");
});

test("a strip's mnemonic makes its order a urine order, unlike an ambiguous one or a ratio", () => {
  for (const name of ["SG", "NIT", "ubg", "02^pH", "5811-5", "BLD"])
    expect([name, isUrineOnly(name)]).toEqual([name, true]);
  for (const name of ["GLU", "pH", "LEU", "UA", "UPC", "ALT", "2345-7", "", "XYZ"]) {
    expect([name, isUrineOnly(name)]).toEqual([name, false]);
  }
});
