import { analyteByCode, foldName } from "../../shared/clinical/analytes/analytes.ts";
import { nearAnalytes } from "../../shared/clinical/analytes/near-analytes.ts";
import { isKnownTest } from "../protocols/hl7/registry/orders.ts";
import { asArray, asObject, type ReportProblem } from "./values/problem-report.ts";

/** Checks the clinic's codes of a device: each code is unique, and names an analyte of the catalogue. */
export function codeProblems(codes: unknown, at: readonly string[], report: ReportProblem): void {
  const known = new Map<string, string>();
  for (const [code, analyte] of Object.entries(asObject(codes))) {
    const folded = foldName(code.trim());
    const first = known.get(folded);
    if (folded === "") report([...at, code], "has an empty code, expected a code of the device");
    else if (first !== undefined) report([...at, code], `is the same code as "${first}", expected each code once`);
    known.set(folded, first ?? code);
    if (typeof analyte === "string" && analyteByCode(analyte) === undefined) {
      report([...at, code], `is ${analyte}, which is no analyte of the catalogue, ${advice(analyte)}`);
    }
  }
}

/** Checks the panels of practice software: any device may get their tests, so the catalogue has them. */
export function panelProblems(panels: unknown, at: readonly string[], report: ReportProblem): void {
  for (const [code, tests] of Object.entries(asObject(panels))) {
    for (const [index, test] of asArray(tests).entries()) {
      if (typeof test !== "string" || isKnownTest(test)) continue;
      report([...at, code, String(index)], `is ${test}, which is no analyte of the catalogue, ${advice(test)}`);
    }
  }
}

function advice(analyte: string): string {
  const near = nearAnalytes([analyte]);
  return near.length === 0 ? "expected one such as ALT, CREA or WBC" : `did you mean ${near.join(" or ")}?`;
}
