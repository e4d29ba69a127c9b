import { describe, expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { RecordDetail, RecordList } from "../../../../server/dashboard/types/records.ts";
import { clinic, connection, importEntities, noon, patient, startServer } from "../../../server/harness.ts";
import { publishedSoap, soap } from "../../../server/records.ts";
import { makeUser, type TestUser } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");
const text = { soap_type: "EXAMINATION", subjective: "Limps.", objective: null, assessment: null, plan: "Rest." };
const signed = { status: "SIGNED" as const, signed_at: "2026-11-01T10:00:00.000Z" };

interface Refusal {
  error: { code: string; message: string };
}

/** A patient of both clinics, and a patient of the other clinic alone. */
async function twoClinics() {
  const [shared, foreign] = [patient(), patient({ name: "Yabancı" })];
  const connections = [connection(shared.fp, ours), connection(shared.fp, theirs), connection(foreign.fp, theirs)];
  const server = await startServer(clinic(ours), clinic(theirs), shared, foreign, connections);
  const staff = await makeUser(server, "staff", ours);
  const key = await server.makeKey(ours, ["clinic.soap.view"]);
  const shown = async (fp: string) => (await server.get(key, `/api/v1/soap/${fp}`)).body.data;
  return { server, shared, foreign, staff, shown };
}

async function write(user: TestUser, patient_fp: string, more: Partial<typeof text> = {}): Promise<RecordDetail> {
  const { status, body } = await user.call<RecordDetail>("POST", "/records", { patient_fp, ...text, ...more });
  expect([status, body]).toEqual([200, expect.objectContaining({ status: "DRAFT" })]);
  return body;
}

const move = async (user: TestUser, record: RecordDetail, to: string) =>
  user.call<RecordDetail & Refusal>("POST", `/records/${record.fp}/move`, { version: record.version, to });
const edit = async (user: TestUser, fp: string, body: object) =>
  user.call<RecordDetail & Refusal>("PATCH", `/records/${fp}`, body);

describe("a record of the own clinic", () => {
  test("a draft is written, edited, signed and locked, and the read API shows each step immediately", async () => {
    const { server, shared, staff, shown } = await twoClinics();
    const draft = await write(staff, shared.fp, { plan: "  " });
    const published = {
      ...{ fp: draft.fp, patient_fp: shared.fp, ...text, plan: null, status: "DRAFT" },
      ...{ performed_by_clinic_fp: ours, signed_at: null, created_at: "2026-11-21T12:00:00.000Z" },
    };
    expect(await shown(draft.fp)).toEqual(published);
    expect(draft).toMatchObject({ is_own: true, next_status: "IN_PROGRESS", amends_fp: null, amended_by: [] });

    const edited = await edit(staff, draft.fp, { version: draft.version, assessment: "Sprain." });
    expect(edited.status).toBe(200);
    expect(await shown(draft.fp)).toEqual({ ...published, assessment: "Sprain." });

    expect((await move(staff, edited.body, "IN_PROGRESS")).body.next_status).toBe("SIGNED");
    const again = await edit(staff, draft.fp, { version: edited.body.version, plan: "Rest for a week." });
    expect([again.status, again.body.status]).toEqual([200, "IN_PROGRESS"]);

    server.clock.now += 60_000;
    const final = await move(staff, again.body, "SIGNED");
    const signedRecord = {
      ...{ ...published, assessment: "Sprain.", plan: "Rest for a week." },
      ...{ status: "SIGNED", signed_at: "2026-11-21T12:01:00.000Z" },
    };
    expect(await shown(draft.fp)).toEqual(signedRecord);

    const refused = await edit(staff, draft.fp, { version: final.body.version, plan: "Other" });
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.objectContaining({
        code: "RECORD.REFUSED",
        message: "The stored record is SIGNED and plan would change, expected an amendment as a new record.",
      }),
    ]);
    expect((await move(staff, final.body, "LOCKED")).body.next_status).toBe(null);
    expect((await move(staff, final.body, "DRAFT")).status).toBe(409);
    expect(await shown(draft.fp)).toEqual({ ...signedRecord, status: "LOCKED" });
    const sql = query(
      (db) => db.updateTable("soap").set({ plan: "Other" }).where("fp", "=", draft.fp),
      () => ({}),
    );
    await expect(server.store.transaction((session) => session.all(sql, {}))).rejects.toThrow(
      "a signed SOAP record is never changed, amend it",
    );
  });

  test("a status is never skipped, and the sentence names the expected one", async () => {
    const { shared, staff } = await twoClinics();
    const draft = await write(staff, shared.fp);
    const { status, body } = await move(staff, draft, "SIGNED");
    expect([status, body.error.message]).toEqual([409, "Status is SIGNED, expected IN_PROGRESS after DRAFT."]);
  });

  test("an edit and a signature of an older version are refused, and nothing is overwritten", async () => {
    const { server, shared, staff, shown } = await twoClinics();
    const colleague = await makeUser(server, "staff", ours);
    const draft = await write(staff, shared.fp);
    const { body: newer } = await edit(colleague, draft.fp, { version: draft.version, plan: "Surgery." });
    const stale = [
      await edit(staff, draft.fp, { version: draft.version, plan: "Rest for two days." }),
      await move(staff, draft, "IN_PROGRESS"),
    ];
    for (const { status, body } of stale) {
      expect([status, body.error.message]).toEqual([
        409,
        "Someone else changed this record after you opened it, so nothing was overwritten.",
      ]);
    }
    expect(await shown(draft.fp)).toMatchObject({ plan: "Surgery.", status: "DRAFT" });
    expect((await edit(staff, draft.fp, { version: newer.version, plan: "Rest." })).status).toBe(200);
  });

  test("an amendment of a signed record is a new draft, and both name each other", async () => {
    const { shared, staff, shown } = await twoClinics();
    const draft = await write(staff, shared.fp);
    const tooEarly = await staff.call<Refusal>("POST", `/records/${draft.fp}/amend`, {});
    expect([tooEarly.status, tooEarly.body.error.message]).toEqual([
      409,
      "This record is DRAFT, expected a signed one: change its text instead.",
    ]);
    await move(staff, draft, "IN_PROGRESS");
    await move(staff, draft, "SIGNED");
    const { body: amendment } = await staff.call<RecordDetail>("POST", `/records/${draft.fp}/amend`, {});
    expect(amendment).toMatchObject({ ...text, status: "DRAFT", amends_fp: draft.fp });
    expect(await shown(amendment.fp)).toMatchObject({ ...text, status: "DRAFT", performed_by_clinic_fp: ours });
    const { body: original } = await staff.call<RecordDetail>("GET", `/records/${draft.fp}`);
    expect(original.amended_by).toEqual([
      { fp: amendment.fp, status: "DRAFT", created_at: "2026-11-21T12:00:00.000Z" },
    ]);
  });

  test("the audit has each command with its user, clinic and records", async () => {
    const { server, shared, staff } = await twoClinics();
    const draft = await write(staff, shared.fp);
    await edit(staff, draft.fp, { version: draft.version, plan: "x" });
    const rows = await server.store.all(commands, {});
    const who = { user_id: staff.id, address: staff.name, at: noon };
    expect(rows).toEqual([
      { route: "soap write", fp: draft.fp, ...who },
      { route: "soap write", fp: shared.fp, ...who },
      { route: "soap edit", fp: draft.fp, ...who },
    ]);
  });

  test("hostile and long text is stored as it is, and NUL, other types and unknown fields are refused", async () => {
    const { shared, staff, shown } = await twoClinics();
    const hostile = `<script>alert(1)</script> ${"ş".repeat(1000)} '; drop table soap; --`;
    const draft = await write(staff, shared.fp, { plan: hostile, subjective: "=cmd()" });
    expect(await shown(draft.fp)).toMatchObject({ plan: hostile, subjective: "=cmd()" });
    const faulty = [
      { plan: "a\0b" },
      { plan: "a\u{D83D}" },
      { plan: 1 },
      { plan: "x".repeat(100_001) },
      { soap_type: "exam" },
      { fp: "x" },
    ];
    for (const changes of faulty) {
      const { status } = await edit(staff, draft.fp, { version: draft.version, ...changes });
      expect([changes, status]).toEqual([changes, 400]);
    }
    expect((await edit(staff, draft.fp, { plan: "x" })).status).toBe(400);
  });
});

describe("a record of another clinic", () => {
  test("that of a shared patient is readable and never writable; that of another patient does not exist", async () => {
    const { server, shared, foreign, staff, shown } = await twoClinics();
    const records = [soap(shared.fp, theirs), soap(shared.fp, theirs, signed)];
    const hidden = soap(foreign.fp, theirs);
    await importEntities(server.store, ...records, hidden);
    for (const record of records) {
      const { status, body } = await staff.call<RecordDetail>("GET", `/records/${record.fp}`);
      expect([status, body.is_own, body.next_status, body.clinic.fp]).toEqual([200, false, null, theirs]);
      const { version } = body;
      for (const refused of [
        await edit(staff, record.fp, { version, plan: "Ours" }),
        await move(staff, body, "IN_PROGRESS"),
        await staff.call<Refusal>("POST", `/records/${record.fp}/amend`, {}),
      ]) {
        const message = "This record belongs to A clinic, and only that clinic changes it.";
        expect([refused.status, refused.body.error.message]).toEqual([409, message]);
      }
      expect(await shown(record.fp)).toEqual(publishedSoap(record));
    }
    const { version } = (await staff.call<RecordDetail>("GET", `/records/${records[0]?.fp}`)).body;
    for (const fp of [hidden.fp, newFp("soap"), "x"]) {
      const answers = [
        await staff.call<Refusal>("GET", `/records/${fp}`),
        await edit(staff, fp, { version, plan: "Ours" }),
        await staff.call<Refusal>("POST", `/records/${fp}/move`, { version, to: "IN_PROGRESS" }),
        await staff.call<Refusal>("POST", `/records/${fp}/amend`, {}),
      ];
      for (const { status, body } of answers) {
        expect([status, body.error.message]).toEqual([404, "This record does not exist."]);
      }
    }
    for (const fp of [foreign.fp, newFp("patient")]) {
      const { status, body } = await staff.call<Refusal>("POST", "/records", { patient_fp: fp, ...text });
      expect([status, body.error.message]).toEqual([404, "This patient does not exist."]);
    }
  });
});

describe("the list of records", () => {
  test("open records of the own clinic come first, then all visible ones from the newest", async () => {
    const { server, shared, foreign, staff } = await twoClinics();
    const at = (day: number) => ({ created_at: `2026-11-0${day}T09:00:00.000Z` });
    const ownOld = soap(shared.fp, ours, { ...at(1), status: "IN_PROGRESS" });
    const ownNew = soap(shared.fp, ours, at(3));
    const ownSigned = soap(shared.fp, ours, { ...at(2), ...signed });
    const foreignDraft = soap(shared.fp, theirs, at(5));
    await importEntities(server.store, ownOld, ownNew, ownSigned, foreignDraft, soap(foreign.fp, theirs, at(6)));
    const list = async (search: string) => (await staff.call<RecordList>("GET", `/records${search}`)).body;
    const fps = async (search: string) => (await list(search)).items.map(({ fp }) => fp);
    expect(await fps("")).toEqual([ownNew, ownOld, foreignDraft, ownSigned].map(({ fp }) => fp));
    expect(await fps("?status=DRAFT")).toEqual([ownNew.fp, foreignDraft.fp]);
    expect(await fps(`?patient=${shared.fp}&status=SIGNED`)).toEqual([ownSigned.fp]);
    expect(await fps(`?patient=${foreign.fp}`)).toEqual([]);
    const { items, ...page } = await list("?page_size=3&page=2");
    expect([items.length, page]).toEqual([1, { total: 4, page: 2, page_size: 3, has_more: false }]);
    expect((await staff.call("GET", "/records?status=OPEN")).status).toBe(400);
  });
});

const commands = query((db) =>
  db
    .selectFrom("audit")
    .select(["route", "fp", "user_id", "address", "at"])
    .where("method", "=", "COMMAND")
    .orderBy("id"),
);
