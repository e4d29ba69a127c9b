import { expect, test } from "vitest";
import { PreviewUpload } from "../../../agent/imaging/preview-upload.ts";
import type { Spool } from "../../../agent/spool/spool.ts";
import { openOperations } from "../../support/spool-operations.ts";

test("an image that ended the agent twice while it was drawn is set aside, and the next one is taken", async () => {
  const { folder, db, spool: operations } = openOperations();
  for (const [position, message] of ["M1", "M2"].entries()) {
    db.prepare(
      `INSERT INTO instance (message, study_uid, sop_class_uid, sop_instance_uid, transfer_syntax_uid, calling_ae_title, sha256,
         file_bytes, header_bytes) VALUES (?, '1.2', '1.2', ?, '1.2.840.10008.1.2.1', 'DX1', '', 1, 1)`,
    ).run(message, `1.2.${position}`);
    db.prepare("INSERT INTO preview (message, fp, position, state) VALUES (?, 'cds_1', ?, 'queued')").run(
      message,
      position + 1,
    );
  }
  // Each start draws, and never returns.
  for (const _ of [0, 1]) expect(operations.beginTry("draw", "cds_1 M1", 2)).toBe(true);
  const run = operations as unknown as Record<string, (...values: unknown[]) => unknown>;
  const call = async (name: string, ...values: unknown[]) => run[name]!(...values);
  const spool = { call } as unknown as Spool;
  const events = { failed: () => undefined, recovered: () => undefined };
  const timing = { setTimer: () => ({}) as never, random: () => 1 };
  const upload = new PreviewUpload(folder, spool, async () => null, events, timing);
  upload.wake();
  const rows = () => db.prepare("SELECT message, state, reason FROM preview ORDER BY message").all();
  // M2 has no file either, so that it is undrawable for its own reason.
  await expect.poll(() => rows().filter((row) => (row as { state: string }).state === "queued")).toEqual([]);
  await upload.stop();
  expect(rows()).toEqual([
    { message: "M1", state: "undrawable", reason: "IMAGE.ENDED" },
    { message: "M2", state: "undrawable", reason: expect.stringContaining("no such file") as string },
  ]);
  expect(db.prepare("SELECT * FROM unfinished_try").all()).toEqual([]);
});
