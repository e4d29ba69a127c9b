import { expect, test } from "vitest";
import { storedBytesOn } from "../../../../../agent/spool/queries/devices/stored-bytes.ts";
import { studyRevisionsOn } from "../../../../../agent/spool/queries/studies/revisions.ts";
import { openOperations } from "../../../../support/spool-operations.ts";
import { alt, studyDraft } from "../../../../support/clinic/study.ts";

function openRevisions() {
  const { db, spool } = openOperations();
  const revisions = studyRevisionsOn(db, storedBytesOn(db, new Map()));
  const links = () => db.prepare("SELECT message, revision FROM message_study ORDER BY message, revision").raw().all();
  return { revisions, spool, links };
}

const source = (message: string) => ({ message, at: 1 });

test("a new dedupe key takes the fresh fp, and a known one keeps its fp", () => {
  const { revisions, links } = openRevisions();
  const first = studyDraft();
  expect(revisions.store(first, source("M1"))).toBe(first.freshFp);
  expect(revisions.store(studyDraft({ results: [alt(51)] }), source("M2"))).toBe(first.freshFp);
  expect(links()).toEqual([
    ["M1", 1],
    ["M2", 2],
  ]);
  expect(revisions.latest("chem-1:abc")?.body.results).toEqual([alt(51)]);
  expect(revisions.latest("chem-1:unknown")).toBeNull();
});

test("a draft joins the study of its collection that is nearest in time, within the limit", () => {
  const { revisions } = openRevisions();
  const drafts = ["00:00", "00:10"].map((time) =>
    studyDraft({ dedupe_key: `chem-1:s1:${time}`, acquired_at: `2026-01-01T${time}:00.000Z` }),
  );
  for (const [index, draft] of drafts.entries()) revisions.store(draft, source(`M${index}`));
  const collect = { prefix: "chem-1:s1:", withinMs: 8 * 60_000 };
  const fpAt = (time: string) => {
    const draft = studyDraft({ dedupe_key: `chem-1:s1:${time}`, acquired_at: `2026-01-01T${time}:00.000Z` });
    const fp = revisions.store({ ...draft, collect }, source(time));
    return fp === draft.freshFp ? "fresh" : fp;
  };
  expect(fpAt("00:06")).toBe(drafts[1]!.freshFp);
  expect(fpAt("00:04")).toBe(drafts[0]!.freshFp);
  expect(fpAt("00:20")).toBe("fresh");
});
