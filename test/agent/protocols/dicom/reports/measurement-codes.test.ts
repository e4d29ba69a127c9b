import { describe, expect, test } from "vitest";
import type { Code } from "../../../../../agent/protocols/dicom/reports/elements.ts";
import { meaningOf, type Modifier, shortCode } from "../../../../../agent/protocols/dicom/reports/measurement-codes.ts";

const code = (text: string, meaning = ""): Code => {
  const [scheme = "", value = ""] = text.split(" ");
  return { scheme, value, meaning };
};
const modifier = (name: string, value: string, meaning = ""): Modifier => ({
  name: code(name),
  value: code(value, meaning),
});
const site = (value: string) => modifier("SCT 363698007", value);
const phase = (value: string) => modifier("SCT 272518008", value);
const flow = (value: string) => modifier("SCT 260674002", value);

const LV = site("SCT 87878005");
const MITRAL = site("SCT 91134007");
const AORTIC = site("SCT 34202007");

test.each<[string, string, Modifier[], string]>([
  ["a precoordinated concept", "LN 29436-3", [LV], "LVIDd"],
  ["its counterpart in systole", "LN 29438-9", [LV], "LVIDs"],
  ["the ejection fraction", "LN 18043-0", [LV], "EF"],
  ["the ejection fraction by a method", "LN 79991-6", [LV], "EF BP"],
  ["the ratio of atrium and aorta", "LN 17985-3", [site("SCT 82471001")], "LA/Ao"],
  ["a dimension at end diastole", "LN 59090-1", [LV, phase("SCT 416190007")], "LVIDd"],
  ["a dimension at end systole", "LN 59090-1", [LV, phase("SCT 416430001")], "LVIDs"],
  ["a thickness of the septum", "LN 59089-3", [site("SCT 589001"), phase("SCT 90892000")], "IVSd"],
  ["a velocity at the aortic valve", "LN 11726-7", [AORTIC, flow("SCT 263677008")], "AV Vmax"],
  ["a velocity at the mitral valve", "LN 11726-7", [MITRAL], "MV Vmax"],
  ["a velocity back through the mitral valve", "LN 11726-7", [MITRAL, flow("SCT 397417004")], "MR Vmax"],
  ["a gradient back through the aortic valve", "LN 20247-3", [AORTIC, flow("SCT 312004007")], "AR maxPG"],
  ["a velocity in a vessel", "LN 11726-7", [site("SRT T-46600")], "T-46600 PSV"],
  ["the tissue velocity at one side of the annulus", "SCT 399133000", [site("SCT 399086000")], "lat E'"],
  [
    "a length of one kidney",
    "SCT 410668003",
    [site("SCT 64033007"), modifier("SCT 272741003", "SCT 7771000")],
    "kidney left length",
  ],
  ["SNOMED RT", "SRT G-037A", [modifier("SRT G-C0E3", "SRT G-0391")], "sept E'"],
  ["the older name of SNOMED RT", "99SDM M-02550", [modifier("SNM3 G-C0E3", "SNM3 T-32300")], "LA diam"],
  ["a mean", "LN 29436-3", [LV, modifier("DCM 121401", "SRT R-00317")], "LVIDd"],
  ["a standard deviation", "LN 29436-3", [LV, modifier("DCM 121401", "SRT R-10047")], "LVIDd SD"],
  ["an unknown concept of LOINC", "LN 99999-1", [], "99999-1"],
  ["an unknown concept at a site", "LN 99999-1", [AORTIC], "99999-1 AV"],
  ["a private concept", "99ACME EF", [], "99ACME:EF"],
])("%s has a short code", (_, concept, modifiers, expected) => {
  expect(shortCode(code(concept), modifiers)).toBe(expected);
});

test("fetuses have separate codes", () => {
  const of = (id: string): Modifier => ({
    name: code("LN 11951-1"),
    value: { scheme: "", value: id, meaning: `fetus ${id}` },
  });
  expect(["1", "Fetus B"].map((id) => shortCode(code("LN 11820-8"), [of(id)]))).toEqual(["BPD 1", "BPD FetusB"]);
});

test.each([
  ["a sentence", "LV dimension"],
  ["too long", "x".repeat(70)],
  ["missing", ""],
])("a code value that is %s gives no code", (_, value) => {
  expect(shortCode({ scheme: "99ACME", value, meaning: "Left ventricle internal dimension" }, [])).toBeNull();
});

test("a sentence as meaning does not change the code", () => {
  const concept = code("LN 29436-3", "The left ventricle's internal dimension, measured at the end of diastole");
  expect(shortCode(concept, [])).toBe("LVIDd");
});

describe("meaning of a measurement", () => {
  test("the meaning has the concept and each modifier once", () => {
    const modifiers = [
      modifier("SCT 363698007", "SCT 87878005", "Left Ventricle"),
      modifier("SCT 399264008", "SCT 399064001", "2D mode"),
      modifier("SCT 370129005", "X 1", "2D mode"),
      modifier("X 2", "X 3"),
    ];
    expect(meaningOf(code("LN 29436-3", "Internal Dimension"), modifiers)).toBe(
      "Internal Dimension (Left Ventricle, 2D mode, 3)",
    );
  });

  test("the meaning is the code value if the device sends no words", () => {
    expect(meaningOf(code("LN 29436-3"), [])).toBe("29436-3");
    expect(meaningOf(code(""), [])).toBe("(no name)");
  });
});
