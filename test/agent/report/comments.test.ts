import { expect, test } from "vitest";
import { isRepeated, nextRevision, type StudyBody } from "../../../agent/report/revision.ts";
import type { Report } from "../../../agent/report/report.ts";
import { study } from "../../../agent/study/study.ts";
import { msh, OBR, ALT as ALT_ROW, PID, readGeneric as readHl7 } from "../protocols/hl7/segments.ts";
import { ALT, only, readGeneric as readAstm, reportOf, reportsOf, vetscanReport, WBC } from "../records.ts";

// The analyzer's comments on the sample reach the pushed study.

const source = { device_id: "chem-1", message_id: "message-1" };
const bodyOf = (report: Report) => study(report, null, source).body;

test("indices and remarks of an ASTM analyzer are comments of the study", () => {
  const report = vetscanReport(
    "Dog",
    "C|1|I|^^INST QC: OK    CHEM QC: OK|G",
    "C|2|I|^^HEM: 2+ LIP: 0 ICT: 1+|G",
    "C|3|I|^^|G",
    "R|1|1742-6^^LN^ALT|41|U/L|10 to 118|N",
    "C|1|I|sample repeated|G",
  );
  expect(bodyOf(report).comments).toEqual([
    "INST QC: OK    CHEM QC: OK",
    "HEM: 2+ LIP: 0 ICT: 1+",
    "1742-6: sample repeated",
  ]);
});

test("notes of an HL7 order are comments of the study, each once", () => {
  const notes = ["NTE|1||Lipemic", "NTE|2||Lipemic", "NTE|3||sample repeated"];
  expect(bodyOf(only(reportsOf(readHl7(msh(), PID, OBR, ...notes, ALT_ROW)))).comments).toEqual([
    "Lipemic",
    "sample repeated",
  ]);
});

test("each study of a sample has the comments on it", () => {
  const reading = readAstm(["P|1|4711", "O|1|S-1", "C|1|I|Lipemic|G", ALT, WBC]);
  expect(reportsOf(reading).map((report) => [report.modality, bodyOf(report).comments])).toEqual([
    ["BIOCHEMISTRY", ["Lipemic"]],
    ["HEMATOLOGY", ["Lipemic"]],
  ]);
});

test("a study without a comment has no such field", () => {
  expect(bodyOf(reportOf(["P|1|4711", "O|1|S-1", ALT]))).not.toHaveProperty("comments");
});

test("a long comment goes on in the next, and no more than 200 are sent", () => {
  const long = "x".repeat(1_100);
  const report = reportOf(["P|1|4711", "O|1|S-1", `C|1|I|${long}|G`, ALT]);
  expect(bodyOf(report).comments?.map(({ length }) => length)).toEqual([500, 500, 100]);
  const many = Array.from({ length: 300 }, (_, index) => `C|${index}|I|remark ${index}|G`);
  expect(bodyOf(reportOf(["P|1|4711", "O|1|S-1", ...many, ALT])).comments).toHaveLength(200);
});

function held(...comments: string[]): StudyBody & { isUnmatched: boolean; isRejected: boolean } {
  const report = reportOf(["P|1|4711", "O|1|S-1", ...comments.map((text) => `C|1|I|${text}|G`), ALT]);
  return { ...study(report, null, source), isUnmatched: false, isRejected: false };
}

test("a new comment makes a revision, a repeated or a missing one none", () => {
  expect(nextRevision(held("Lipemic"), held("Lipemic"))).toBeNull();
  expect(nextRevision(held("Lipemic"), held())).toBeNull();
  expect(nextRevision(held("Lipemic"), held("sample repeated"))).toMatchObject({
    body: { comments: ["Lipemic", "sample repeated"] },
  });
  expect(isRepeated(held("Lipemic"), held("other").body, undefined)).toBe(false);
});
