import { expect, test } from "vitest";
import { uncachedWrite } from "../../../../server/database/query.ts";
import { keyPermissions, study } from "../../harness.ts";
import { callerOf, receiverOf } from "../../destinations.ts";
import { fieldOf } from "../../hl7-receiver.ts";
import { ours, pamuk, practiceServer } from "../../practice-software.ts";

// The numbers of animals that practice software sends, merges and removes, in the messages that it gets.

const glu = (value: number) => ({ analyte: "GLU", value, unit: "mmol/L", reference_range: null, flag: null });

async function world() {
  const practice = await practiceServer();
  const key = await practice.server.makeKey(ours, keyPermissions);
  const call = callerOf(practice.server, key);
  await call("PUT", "", { destinations: [{ id: "pims", kind: "hl7" }] });
  const receiver = receiverOf(call);
  /** PID-3, and OBX-11 of the first row. */
  const take = async () => {
    const segments = await receiver.take();
    return segments.length === 0 ? null : [fieldOf(segments, "PID", 3), fieldOf(segments, "OBX", 11)].join(" ");
  };
  const file = async (patient_fp: string, revision = 1, value = 5, outcome = "filed") => {
    const filed = study({ fp: FP, dedupe_key: FP, patient_fp, revision, results: [glu(value)] });
    expect(await practice.server.push(key, filed)).toMatchObject([{ outcome }]);
  };
  return { ...practice, take, file };
}

const FP = "cds_01JD0000000000000000000000";

test("a merge takes the report back under the number that goes, and sends it under the one that stays", async () => {
  const { send, merge, take, file } = await world();
  const { items } = await send(pamuk, { ...pamuk, external_id: "00988", identifiers: [] });
  await file(items[1]?.fp ?? "");
  expect(await take()).toBe("00988^^^pims^PI F");
  await merge("00417", "00988");
  expect([await take(), await take(), await take()]).toEqual(["00988^^^pims^PI W", "00417^^^pims^PI F", null]);
});

test("an animal has its number in the software that numbers most animals of the clinic", async () => {
  const { server, send, take, file } = await world();
  const { items } = await send(pamuk, { ...pamuk, external_id: "2", name: "Boncuk", identifiers: [] });
  const fp = items[0]?.fp ?? "";
  await server.store.transaction((session) => session.all(nameInOther, { fp }));
  await file(fp);
  expect(await take()).toBe("00417^^^pims^PI F");
});

test("nothing is taken back from a deleted animal, also after a late revision, and nothing is sent again when it returns", async () => {
  const { send, take, file } = await world();
  const { items } = await send(pamuk);
  const fp = items[0]?.fp ?? "";
  await file(fp);
  expect(await take()).toBe("00417^^^pims^PI F");
  await send({ external_id: "00417", deleted: true });
  expect(await take()).toBeNull();
  await file(fp, 3, 6, "unmatched");
  expect(await take()).toBeNull();
  await send({ ...pamuk, deleted: false });
  expect(await take()).toBeNull();
});

/** A second software numbers the animal, too. */
const nameInOther = uncachedWrite((db, p: { fp: string }) =>
  db
    .insertInto("patient_source")
    .columns(["clinic_id", "source", "external_id", "patient_id", "source_updated_at", "removed"])
    .expression((from) =>
      from
        .selectFrom("patient_source")
        .innerJoin("patient", "patient.id", "patient_source.patient_id")
        .select((column) => ["clinic_id", column.val("a-registry").as("source"), column.val("R-7").as("external_id")])
        .select((column) => ["patient_id", "source_updated_at", column.lit(0).as("removed")])
        .where("patient.fp", "=", p.fp),
    ),
);
