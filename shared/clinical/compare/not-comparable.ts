import { Type } from "typebox";
import { analyteByCode } from "../analytes/analytes.ts";
import { readData } from "../analytes/data.ts";

// Published facts that forbid arithmetic on two values of one animal: data/not-comparable.json.

const Rule = Type.Object({
  id: Type.Literal("age"),
  analytes: Type.Array(Type.String(), { minItems: 1 }),
  evidence: Type.String({ minLength: 1 }),
  source: Type.String({ minLength: 1 }),
});

const rules = readData("not-comparable.json", Type.Array(Rule));
const growing = new Set(rules.flatMap(({ analytes }) => analytes));
for (const code of growing) {
  if (analyteByCode(code) === undefined) throw new Error(`shared/data/not-comparable.json: ${code} is unknown`);
}

/** Whether growth changes the analyte, so that a young animal's value does not compare with a later one. */
export function changesWithGrowth(analyte: string): boolean {
  return growing.has(analyte);
}
