import type { Hl7Profile } from "../../protocols/hl7/profile.ts";

// Factory names may have the method in brackets: `Creatinine (Jaffe)`.

/** Adds each name without its method, as the catalogue may have it. */
export function methodInBrackets({ code }: Hl7Profile): Partial<Hl7Profile> {
  if (code === undefined) throw new Error("method-in-brackets needs results.names");
  return {
    code: (obx) => {
      const names = code(obx);
      return [...names, ...names.flatMap(factoryNames)];
    },
  };
}

/** A method in brackets: `Creatinine (Jaffe)`. The display may cut the closing one. */
const BRACKETS = /[([{（【]([^)\]}）】]*)[)\]}）】]?/g;
/** Words in brackets that name another quantity: `Bilirubin (direct)`, `Calcium (ionized)`, `Protein (urine)`. */
const QUANTITY =
  /\b(?:d|t|i|u|dir\w*|tot\w*|ind\w*|(?:un)?conj\w*|ioni[sz]ed|free|urin\w*|csf|fluid|bone|pancrea\w*|hdl|ldl|vldl|mb|corr\w*)\b/i;

/** Factory names that the catalogue lacks: they are ambiguous on a device that is not a chemistry analyzer. */
const FACTORY: Readonly<Record<string, string>> = {
  "total bilirubin": "TBIL",
  "direct bilirubin": "DBIL",
  calcium: "CA",
  "inorganic phosphorus": "PHOS",
  "phosphorus inorganic": "PHOS",
  "total cholesterol": "CHOL",
  "total bile acid": "BA",
  "total bile acids": "BA",
  "carbon dioxide": "TCO2",
  "α-amylase": "AMYL",
  "γ-glutamyltransferase": "GGT",
  "γ-glutamyl transferase": "GGT",
};

/** Returns a name as the catalogue may have it: without the method in brackets. */
function factoryNames(name: string): string[] {
  const plain = name
    .replace(BRACKETS, (_, inside: string) => (QUANTITY.test(inside) ? ` ${inside} ` : " "))
    .replace(/\s+/g, " ")
    .trim();
  return [FACTORY[plain.toLowerCase()] ?? plain].filter((text) => text !== "" && text !== name);
}
