import { refusal } from "../../../server/dashboard/types/refusals.ts";
import { describe, expect, test } from "vitest";
import { query } from "../../../server/database/query.ts";
import { amendSoap, moveSoap } from "../../../server/records/soap/soap.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { ImportError } from "../../../server/import/importer.ts";
import {
  clinic,
  connection,
  connectTo,
  importEntities,
  noon,
  patient,
  startServer,
  type TestServer,
} from "../harness.ts";
import { publishedSoap, soap } from "../records.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");
const signed = { status: "SIGNED" as const, signed_at: "2026-11-01T10:00:00.000Z" };

describe("a signed SOAP record", () => {
  test("the database refuses any change of a signed record except the move to LOCKED", async () => {
    const { server, one } = await serverWith();
    const other = patient();
    const record = soap(one.fp, ours, signed);
    await importEntities(server.store, other, record);
    const write = (change: string) => attempt(server, `update soap set ${change}`);
    const changes = [
      "subjective = 'x'",
      "objective = null",
      "assessment = ''",
      "plan = plan || '.'",
      "soap_type = 'X'",
      "patient_id = 2",
      "clinic_id = 2",
      "signed_at = signed_at + 1",
      "created_at = 0",
      "amends_fp = 'soap_1'",
      "fp = 'soap_1'",
      "id = 9",
      "status = 'LOCKED', plan = 'x'",
    ];
    const refusesAll = async (...statuses: string[]) => {
      for (const change of changes) expect([change, await write(change)]).toEqual([change, stays]);
      for (const status of statuses) expect(await write(`status = '${status}'`)).toEqual(expect.any(String));
      expect(await attempt(server, "delete from soap")).toBe("a signed SOAP record is never deleted");
    };
    await refusesAll("DRAFT", "IN_PROGRESS");
    expect(await write("status = 'LOCKED'")).toBe(null);
    await refusesAll("DRAFT", "IN_PROGRESS", "SIGNED");
    expect(await write("status = 'LOCKED'")).toBe(null);
  });

  test("the database accepts only the next status of a record, and SIGNED only with a time", async () => {
    const { server, one } = await serverWith();
    await importEntities(server.store, soap(one.fp, ours));
    const write = (change: string) => attempt(server, `update soap set ${change}`);
    expect(await write("status = 'SIGNED', signed_at = 1")).toBe(moves);
    expect(await write("status = 'LOCKED', signed_at = 1")).toBe(moves);
    expect(await write("plan = 'x'")).toBe(null);
    expect(await write("status = 'IN_PROGRESS'")).toBe(null);
    expect(await write("status = 'DRAFT'")).toBe(moves);
    expect(await write("status = 'SIGNED'")).toMatch(/check constraint/i);
    expect(await write("status = 'SIGNED', signed_at = 1, plan = 'y'")).toBe(null);
    expect(await write("plan = 'z'")).toBe(stays);
  });

  test("the owning clinic moves and amends a record, and another clinic can do neither", async () => {
    const { server, one, id } = await serverWith();
    const record = soap(one.fp, ours);
    await importEntities(server.store, record);
    const key = await server.makeKey(ours, ["clinic.soap.view"]);
    const shown = async (fp: string) => (await server.get(key, `/api/v1/soap/${fp}`)).body.data;
    const move = async (clinicId: number, to: "IN_PROGRESS" | "SIGNED" | "LOCKED") =>
      server.store.transaction((session) => moveSoap(session, { clinicId, fp: record.fp, to, now: noon }));
    const amend = async (clinicId: number, fp = record.fp) =>
      server.store.transaction((session) => amendSoap(session, { clinicId, fp, now: noon + 1000 }));

    expect(await move(id.theirs, "IN_PROGRESS")).toEqual(refusal("SOAP.NOT_OWN", record.fp));
    expect(await move(id.ours, "SIGNED")).toEqual(refusal("SOAP.STATUS", "SIGNED", "DRAFT", "IN_PROGRESS"));
    expect(await amend(id.ours)).toEqual({ problem: refusal("SOAP.AMENDS_OPEN", record.fp, "DRAFT") });
    expect(await move(id.ours, "IN_PROGRESS")).toBe(null);
    expect(await shown(record.fp)).toMatchObject({ status: "IN_PROGRESS", signed_at: null });
    expect(await move(id.ours, "SIGNED")).toBe(null);
    const final = { ...publishedSoap(record), status: "SIGNED", signed_at: "2026-11-21T12:00:00.000Z" };
    expect(await shown(record.fp)).toEqual(final);

    expect(await amend(id.theirs)).toEqual({ problem: refusal("SOAP.NOT_OWN", record.fp) });
    const amended = await amend(id.ours);
    if (!("fp" in amended)) throw new Error(amended.problem.code);
    expect(await shown(amended.fp)).toEqual({
      ...publishedSoap(record),
      fp: amended.fp,
      created_at: "2026-11-21T12:00:01.000Z",
    });
    expect(await server.store.all(amendments, {})).toEqual([{ fp: amended.fp, amends_fp: record.fp }]);
    expect(await shown(record.fp)).toEqual(final);
    expect(await move(id.ours, "LOCKED")).toBe(null);
    expect(await shown(record.fp)).toEqual({ ...final, status: "LOCKED" });
  });
});

describe("an import", () => {
  test("an import moves a record, and refuses changes of a signed one", async () => {
    const { server, one } = await serverWith();
    const record = soap(one.fp, ours);
    const steps: [object, string][] = [
      [{}, "new"],
      [{}, "unchanged"],
      [{ plan: "Other" }, "changed"],
      [signed, "line 1: status is SIGNED, expected IN_PROGRESS after DRAFT"],
      [{ status: "IN_PROGRESS" }, "changed"],
      [{ status: "DRAFT" }, "line 1: status is DRAFT, expected SIGNED after IN_PROGRESS"],
      [{ status: "SIGNED" }, "line 1: signed_at is null, expected a time for a SIGNED record"],
      [{ ...signed, plan: "Last" }, "changed"],
      [{ ...signed, plan: "Last" }, "unchanged"],
      [signed, `line 1: the stored record is SIGNED and plan ${amend}`],
      [
        { ...signed, plan: "Last", performed_by_clinic_fp: theirs, signed_at: "2026-11-01T10:00:00.001Z" },
        `line 1: the stored record is SIGNED and performed_by_clinic_fp, signed_at ${amend}`,
      ],
      [{ ...signed, plan: "Last", status: "LOCKED" }, "changed"],
      [{ ...signed, plan: "Last", status: "LOCKED" }, "unchanged"],
      [{ ...signed, plan: "Last" }, "line 1: status is SIGNED, expected no other status, LOCKED is final"],
    ];
    for (const [index, [changes, expected]] of steps.entries()) {
      expect([index, await importOutcome(server, { ...record, ...changes })]).toEqual([index, expected]);
    }
  });

  test("an import accepts an amendment before or after its record, and names an invalid one", async () => {
    const { server, one } = await serverWith();
    const other = patient();
    const [original, draft, elsewhere] = [soap(one.fp, ours, signed), soap(one.fp, ours), soap(other.fp, ours, signed)];
    const amendment = soap(one.fp, ours, { ...signed, amends_fp: original.fp });
    const again = soap(one.fp, ours, { amends_fp: amendment.fp });
    expect(await importEntities(server.store, again, amendment, draft, original, elsewhere, other)).toMatchObject({
      new: 6,
    });
    const missing = newFp("soap");
    const table: [object, RegExp][] = [
      [soap(one.fp, ours, { amends_fp: missing }), /^line 1: amends_fp is soap_\w+, which is neither in the file nor/],
      [soap(one.fp, ours, { amends_fp: draft.fp }), /which is DRAFT, expected a SIGNED or LOCKED record$/],
      [soap(one.fp, ours, { amends_fp: elsewhere.fp }), /a record of another patient, expected one of the same$/],
      [{ ...draft, amends_fp: draft.fp }, /the record itself, expected another record$/],
    ];
    for (const [line, problem] of table) expect(await importOutcome(server, line)).toMatch(problem);

    const [left, right] = [newFp("soap"), newFp("soap")];
    const circle = [
      soap(one.fp, ours, { ...signed, fp: left, amends_fp: right }),
      soap(one.fp, ours, { ...signed, fp: right, amends_fp: left }),
    ];
    expect(await importOutcome(server, ...circle)).toMatch(/^line 1: .* which amends this record itself in turn$/);
  });
});

const stays = "a signed SOAP record is never changed, amend it";
const moves = "a SOAP record moves from DRAFT over IN_PROGRESS and SIGNED to LOCKED only";
const amend = "would change, expected an amendment as a new record";

const amendments = query((db) => db.selectFrom("soap").select(["fp", "amends_fp"]).where("amends_fp", "is not", null));

async function serverWith() {
  const one = patient();
  const server = await startServer(clinic(ours), clinic(theirs), one, connection(one.fp, ours));
  return { server, one, id: { ours: 1, theirs: 2 } };
}

/** Runs a statement directly. @returns the message of the database if it refuses, otherwise null */
async function attempt(server: TestServer, sql: string): Promise<string | null> {
  const beside = await connectTo(server.database);
  try {
    await beside.run(sql);
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await beside.close();
  }
}

/** Imports a line. @returns its outcome, or the first problem */
async function importOutcome(server: TestServer, ...entities: object[]): Promise<string> {
  try {
    const result = await importEntities(server.store, ...entities);
    return Object.entries(result).find(([, count]) => count > 0)?.[0] ?? "nothing";
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    const [first] = error.problems;
    return `line ${first?.line}: ${first?.problem}`;
  }
}
