import { expect, test } from "vitest";
import { PreviewUpload } from "../../../agent/imaging/preview-upload.ts";
import { previewOperationsOn } from "../../../agent/spool/queries/images/previews.ts";
import type { Spool } from "../../../agent/spool/spool.ts";
import { openOperations } from "../../support/spool-operations.ts";

test("an image that ended the agent twice while it was drawn is set aside, and the next one is taken", async () => {
  const { folder, db } = openOperations();
  const operations = previewOperationsOn(db, 12);
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
  const first = () => operations.nextPreview();
  // Each start begins to draw, and never comes back.
  for (const draws of [0, 1]) {
    expect(first()).toMatchObject({ message: "M1", draws });
    operations.beginDrawing(first()!);
  }
  const run = { ...operations, outbox: () => ({ depth: 0 }) } as unknown as Record<
    string,
    (...values: unknown[]) => unknown
  >;
  const spool = { call: async (name: string, ...values: unknown[]) => run[name]!(...values) } as unknown as Spool;
  const events = { failed: () => undefined, recovered: () => undefined };
  const timing = { setTimer: () => ({}) as never, random: () => 1 };
  const upload = new PreviewUpload(folder, spool, async () => null, events, timing);
  upload.wake();
  const rows = () => db.prepare("SELECT message, state, reason, draws FROM preview ORDER BY message").all();
  // M2 has no file either, so that it is undrawable for its own reason.
  await expect.poll(() => rows().filter((row) => (row as { state: string }).state === "queued")).toEqual([]);
  await upload.stop();
  expect(rows()).toEqual([
    { message: "M1", state: "undrawable", reason: "the agent ended 2 times while it was drawn", draws: 2 },
    { message: "M2", state: "undrawable", reason: expect.stringContaining("no such file") as string, draws: 0 },
  ]);
});
