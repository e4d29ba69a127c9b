import { expect, test } from "vitest";
import type { Entity } from "../../../server/import/lines.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { MatchedBy, PushedStudy } from "../../../shared/api/study.ts";
import { clinic, connection, importEntities, keyPermissions, patient, startServer, study } from "../harness.ts";

// The clinic's directory has changed since the agent matched by its copy.

const ours = newFp("clinic");
const elsewhere = newFp("clinic");

async function movedServer() {
  const [old, other] = [
    patient({ name: "Karamel", external_ids: ["9101"] }),
    patient({ name: "Zeytin", external_ids: ["9102"] }),
  ];
  const server = await startServer(
    [clinic(ours), clinic(elsewhere), old, other],
    [connection(old.fp, ours), connection(other.fp, ours)],
  );
  const key = await server.makeKey(ours, keyPermissions);
  const push = async (matched_by: MatchedBy | undefined, changes: Partial<PushedStudy> = {}) => {
    const sent = study({ patient_fp: old.fp, ...(matched_by && { matched_by }), ...changes });
    const [outcome] = await server.push(key, sent);
    const { status } = await server.get(key, `/api/v1/lab/diagnostics/${sent.fp}`);
    return { outcome: outcome?.outcome, code: outcome?.code, reason: outcome?.reason, isRead: status === 200 };
  };
  const change = (...entities: unknown[]) => importEntities(server.store, ...entities);
  return { server, key, push, change, old, other };
}

const FILED = { outcome: "filed", code: undefined, reason: null, isRead: true };
const byNumber: MatchedBy = { by: "identifier", identifiers: ["9101"] };

test("a study whose number names the patient is filed", async () => {
  const { push } = await movedServer();
  expect(await push(byNumber)).toEqual(FILED);
});

test("a study whose number moved to another patient waits for a person, with both patients named", async () => {
  const { push, change, old, other } = await movedServer();
  await change({ ...old, external_ids: [] }, { ...other, external_ids: ["9102", "9101"] });
  expect(await push(byNumber)).toEqual({
    outcome: "unmatched",
    code: "MATCH.IDENTIFIER_MOVED",
    reason: `the number "9101" names ${other.fp} now, the agent took it for ${old.fp}`,
    isRead: false,
  });
});

test("a study whose number two patients have now, or no patient, waits for a person", async () => {
  const { push, change, old, other } = await movedServer();
  await change({ ...other, external_ids: ["9102", "9101"] });
  expect(await push(byNumber)).toMatchObject({ code: "MATCH.IDENTIFIER_MOVED", isRead: false });
  await change({ ...old, external_ids: [] }, other);
  expect(await push(byNumber)).toMatchObject({
    code: "MATCH.IDENTIFIER_MOVED",
    reason: `the number "9101" names no patient now, the agent took it for ${old.fp}`,
    isRead: false,
  });
});

test("a sample that was measured before its number moved waits for a person, and a later one is filed", async () => {
  const { push, change, server, old, other } = await movedServer();
  const moved = server.clock.now;
  await change({ ...old, external_ids: [] }, { ...other, external_ids: ["9102", "9101"] });
  const at = (ms: number) => ({ patient_fp: other.fp, acquired_at: new Date(ms).toISOString() });
  const early = at(moved - 60_000);
  expect(await push(byNumber, early)).toEqual({
    outcome: "unmatched",
    code: "MATCH.IDENTIFIER_EARLIER",
    reason: `the number "9101" named ${old.fp} when the sample was measured, the agent took it for ${other.fp}`,
    isRead: false,
  });
  expect(await push(byNumber, at(moved + 1))).toEqual(FILED);
  expect(await push({ by: "identifier", identifiers: ["9102"] }, early)).toEqual(FILED);
  // Both have it, as after a number that was taken away by mistake and typed again.
  await change(old, other);
  await change(old, { ...other, external_ids: [] });
  expect(await push({ by: "identifier", identifiers: ["9101"] }, { acquired_at: at(moved + 1).acquired_at })).toEqual(
    FILED,
  );
});

test.each(["removed", "disconnected"])(
  "a sample that was measured before its number's animal was %s waits for a person, and a later one is filed",
  async (how) => {
    const { push, change, server, old, other } = await movedServer();
    const left = server.clock.now;
    await change(
      how === "removed" ? { ...old, deleted_at: new Date(left).toISOString() } : connection(old.fp, ours, false),
    );
    await change({ ...other, external_ids: ["9102", "9101"] });
    const at = (ms: number) => ({ patient_fp: other.fp, acquired_at: new Date(ms).toISOString() });
    expect(await push(byNumber, at(left - 60_000))).toMatchObject({
      code: "MATCH.IDENTIFIER_EARLIER",
      reason: `the number "9101" named ${old.fp} when the sample was measured, the agent took it for ${other.fp}`,
      isRead: false,
    });
    expect(await push(byNumber, at(left + 60_000))).toEqual(FILED);
  },
);

test("a sample that was measured before its animal lost its number and was removed waits for a person", async () => {
  const { push, change, server, old, other } = await movedServer();
  const left = server.clock.now;
  await change({ ...old, external_ids: [] });
  await change({ ...old, external_ids: [], deleted_at: new Date(left).toISOString() });
  await change({ ...other, external_ids: ["9102", "9101"] });
  const early = { patient_fp: other.fp, acquired_at: new Date(left - 60_000).toISOString() };
  expect(await push(byNumber, early)).toMatchObject({ code: "MATCH.IDENTIFIER_EARLIER", isRead: false });
});

test("a sample that was measured before its animal was merged is filed to the survivor", async () => {
  const { push, change, server, old, other } = await movedServer();
  const merged = server.clock.now;
  await change({ ...old, deleted_at: new Date(merged).toISOString(), merged_into: other.fp });
  await change({ ...other, external_ids: ["9102", "9101"] });
  const early = { patient_fp: other.fp, acquired_at: new Date(merged - 60_000).toISOString() };
  expect(await push(byNumber, early)).toEqual(FILED);
});

test("a sample that was measured days after the death of its patient waits for a person, unless an order names it", async () => {
  const { push, change, old } = await movedServer();
  await change({ ...old, deceased_at: "2026-11-10T00:00:00.000Z" });
  const at = (day: string) => ({ acquired_at: `2026-11-${day}T09:00:00.000Z` });
  expect(await push(byNumber, at("12"))).toEqual(FILED);
  expect(await push(byNumber, at("20"))).toEqual({
    outcome: "unmatched",
    code: "MATCH.DECEASED",
    reason: `patient ${old.fp} died on 2026-11-10, and the sample was measured on 2026-11-20`,
    isRead: false,
  });
  expect(await push({ by: "accession", identifiers: [] }, at("20"))).toEqual(FILED);
});

test("a number of a patient that only another clinic sees is not the number of this clinic's patient", async () => {
  const { push, change, old } = await movedServer();
  const stranger = patient({ external_ids: ["9101"] });
  await change(stranger, connection(stranger.fp, elsewhere));
  expect(await push(byNumber)).toEqual(FILED);
  await change({ ...old, external_ids: [] });
  expect(await push(byNumber)).toMatchObject({ code: "MATCH.IDENTIFIER_MOVED", isRead: false });
});

test.each([
  ["an fp", { by: "fp", identifiers: ["9102"] }],
  ["an accession", { by: "accession", identifiers: ["9102"] }],
] satisfies [string, MatchedBy][])(
  "a study matched by %s whose number names another patient waits",
  async (_, match) => {
    const { push, change, other } = await movedServer();
    expect(await push(match)).toMatchObject({ code: "MATCH.IDENTIFIER_MOVED", isRead: false });
    await change({ ...other, external_ids: [] });
    expect(await push(match)).toEqual(FILED);
  },
);

test("the typed number of an agent that names no match is checked as far as it names another patient", async () => {
  const { push } = await movedServer();
  const hint = (identifier: string) => ({ patient_hint: { ...study().patient_hint, identifier } });
  expect(await push(undefined, hint("9102"))).toMatchObject({ code: "MATCH.IDENTIFIER_MOVED", isRead: false });
  expect(await push(undefined, hint("9101"))).toEqual(FILED);
  expect(await push(undefined, hint("an accession"))).toEqual(FILED);
});

const day = { from: "2026-11-19T21:00:00.000Z", to: "2026-11-20T21:00:00.000Z" };
const byName: MatchedBy = { by: "name", identifiers: [], day };
const named = { patient_hint: { ...study().patient_hint, identifier: null, name: "KARAMEL", species: "Canine" } };

function visit(patient_fp: string, changes: Partial<Extract<Entity, { type: "calendar_event" }>> = {}) {
  return {
    type: "calendar_event" as const,
    ...{ fp: newFp("calevt"), title: "Visit", event_type: "APPOINTMENT", status: "SCHEDULED" },
    ...{ start_at: "2026-11-20T09:00:00.000Z", end_at: "2026-11-20T09:30:00.000Z" },
    ...{ patient_fp, assigned_user_fp: null, clinic_fp: ours },
    ...changes,
  };
}

test("a match by name holds while the name and the appointment are the patient's alone", async () => {
  const { push, change, old } = await movedServer();
  const event = visit(old.fp);
  await change(event);
  expect(await push(byName, named)).toEqual(FILED);

  await change({ ...event, status: "CANCELLED" });
  expect(await push(byName, named)).toMatchObject({ code: "MATCH.NAME_MOVED", isRead: false });
  await change(visit(old.fp));
  const twin = patient({ name: "Karamela" });
  await change(twin, connection(twin.fp, ours));
  expect(await push(byName, named)).toMatchObject({ code: "MATCH.NAME_MOVED", isRead: false });
  await change({ ...twin, name: "Boncuk" }, { ...old, name: "Sirius" });
  expect(await push(byName, named)).toMatchObject({ code: "MATCH.NAME_MOVED", isRead: false });
});

test("a study of a patient whose species was corrected to another than the device's waits for a person", async () => {
  const { push, change, old } = await movedServer();
  const stated = { patient_hint: { ...study().patient_hint, identifier: "9101", species: "DOG" } };
  expect(await push(byNumber, stated)).toEqual(FILED);
  await change({ ...old, species: "cat" });
  expect(await push(byNumber, stated)).toMatchObject({
    code: "MATCH.OTHER_SPECIES",
    reason: "species contradiction: the device says dog, the patient is a cat now",
    isRead: false,
  });
});

test("later results of a filed sample stay with its patient after its number moved", async () => {
  const { server, key, change, old, other } = await movedServer();
  const first = study({ patient_fp: old.fp, matched_by: byNumber });
  await server.push(key, first);
  await change({ ...old, external_ids: [] }, { ...other, external_ids: ["9101"] });
  const late = { ...first, revision: 2, results: [] };
  expect(await server.push(key, { ...late, patient_fp: other.fp })).toMatchObject([
    { outcome: "conflict", code: "STUDY.FILED_ELSEWHERE" },
  ]);
  expect(await server.push(key, late)).toMatchObject([{ outcome: "filed" }]);
  const { body } = await server.get(key, `/api/v1/lab/diagnostics/${first.fp}`);
  expect(body.data).toMatchObject({ patient_fp: old.fp, results: [] });
});
