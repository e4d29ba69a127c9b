import { expect, test } from "vitest";
import { newestImageStudies } from "../../../agent/imaging/image-studies.ts";
import { openOperations } from "../../support/spool-operations.ts";

// Goal: the list of images stays small and fast however many images the agent holds.

function store({ spool }: ReturnType<typeof openOperations>, study: string, number: number): string {
  const message = `M${String(number).padStart(6, "0")}`;
  spool.addInstance({
    message,
    device: "xray",
    receivedAt: 1000 + number,
    quietMs: 1000,
    head: new Uint8Array(4),
    study,
    sopClass: "1.2",
    sopInstance: message,
    transferSyntax: "1.2.840.10008.1.2.1",
    callingAe: "DX1",
    sha256: message,
    fileBytes: 10,
    headerBytes: 5,
  });
  return message;
}

test("a study has its counts, its first images, and what became of it at each configured archive", () => {
  const opened = openOperations();
  const { db, spool } = opened;
  spool.setDestinations(["cloud", "pacs"]);
  const ids = Array.from({ length: 14 }, (_, number) => store(opened, "1.2.3", number));
  spool.setDestinations(["pacs"]);
  spool.settleForward("pacs", ids[0]!, "sent", null, 2000);
  spool.settleForward("pacs", ids[1]!, "refused", "no space", 2000);
  db.prepare("UPDATE instance SET removed_at = 3000 WHERE message = ?").run(ids[0]);
  db.prepare("UPDATE message SET state = 'quarantined', reason = 'no modality' WHERE id = ?").run(ids[2]);
  for (const [number, reason] of ["IMAGE.MEMORY", "its dataset is deflated"].entries()) {
    db.prepare("INSERT INTO message_study (message, fp, revision) VALUES (?, 'cds_1', 1)").run(ids[number + 3]);
    db.prepare(
      "INSERT INTO preview (message, fp, position, state, reason) VALUES (?, 'cds_1', ?, 'undrawable', ?)",
    ).run(ids[number + 3], number, reason);
  }
  const { studies, has_older } = newestImageStudies(db);
  expect(has_older).toBe(false);
  expect(studies).toMatchObject([
    { study_uid: "1.2.3", device: "xray", received_at: new Date(1013).toISOString(), reason: "no modality" },
  ]);
  expect(studies[0]).toMatchObject({ images: 14, has_more: false, removed: 1 });
  expect(studies[0]!.states.toSorted()).toEqual(["pending", "quarantined"]);
  expect(studies[0]!.forwards).toEqual([{ destination: "pacs", queued: 12, sent: 1, refused: 1, reason: "no space" }]);
  expect(studies[0]!.shown).toEqual(
    ids.slice(0, 12).map((id, index) => ({ id, is_removed: index === 0, fault: index === 3 ? "IMAGE.MEMORY" : null })),
  );
});

test("the newest 50 studies are listed, and the images of a large one are counted up to a bound", () => {
  const opened = openOperations();
  const { db } = opened;
  db.transaction(() => {
    for (let number = 0; number < 60; number++) store(opened, `1.2.${number}`, number);
    for (let number = 0; number < 1001; number++) store(opened, "1.3", 60 + number);
    // A late image makes an older study the newest one.
    store(opened, "1.2.20", 2000);
  })();
  const { studies, has_older } = newestImageStudies(db);
  expect([studies.length, has_older]).toEqual([50, true]);
  expect(studies.slice(0, 3).map(({ study_uid }) => study_uid)).toEqual(["1.2.20", "1.3", "1.2.59"]);
  expect(studies[1]).toMatchObject({ images: 1000, has_more: true });
  expect(studies[1]!.shown).toHaveLength(12);
});

test("no query scans a table of images, messages or forwards", () => {
  const opened = openOperations();
  const { db, spool } = opened;
  spool.setDestinations(["pacs"]);
  store(opened, "1.2.3", 1);
  const prepare = db.prepare.bind(db);
  const statements: string[] = [];
  Object.assign(db, { prepare: (sql: string) => (statements.push(sql), prepare(sql)) });
  newestImageStudies(db);
  expect(statements.length).toBeGreaterThan(3);
  for (const sql of statements) {
    const values = sql.includes("?") ? ["1.2.3"] : [];
    const plan = prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
    const scans = plan
      .map(({ detail }) => detail)
      .filter((step) => /^SCAN (instance|message|forward|m|f)\b/.test(step));
    // The newest images are read from the end of the table, up to a limit.
    expect(scans).toEqual(sql.includes("LIMIT 5000") ? ["SCAN instance"] : []);
    expect(plan.map(({ detail }) => detail).join("\n")).not.toMatch(/SEARCH instance .*TEMP B-TREE FOR ORDER BY/s);
  }
});
