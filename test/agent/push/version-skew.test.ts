import { afterEach, expect, test } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { syncAppointments } from "../../../agent/study/appointments.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { Push } from "../../../agent/push/push.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { testPatients, until } from "../../support/machine/processes.ts";
import { type ScriptedRequest, scriptedServer } from "../../support/peers/scripted-server.ts";
import { useSpool } from "../../support/spool.ts";
import { studyDraft } from "../../support/clinic/study.ts";
import { TestClock } from "../../support/protocols/wire.ts";

// Goal: an agent works with a server one minor version ahead. Method: every object of every response has an unknown field.

const used = useSpool();
let server: Awaited<ReturnType<typeof scriptedServer>>;

afterEach(() => server.close());

function fromLater(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromLater);
  if (typeof value !== "object" || value === null) return value;
  const inner = Object.entries(value).map(([name, part]) => [name, fromLater(part)]);
  return { ...Object.fromEntries(inner), later_field: { deep: [1] } };
}

const [{ fp, externalId }] = testPatients(1) as [ReturnType<typeof testPatients>[number]];
const at = "2026-11-21T09:00:00.000Z";
const patient = {
  fp,
  name: "Test",
  species: "dog",
  breed: null,
  sex: null,
  date_of_birth: null,
  weight_kg: null,
  owner_customer_fp: "customer_01K9TEST000000000000000D01",
  created_at: at,
  updated_at: at,
};
const alt = {
  id: "alt-dog",
  species: "dog",
  analyte: "ALT",
  unit: "U/L",
  low: "20",
  high: "90",
  effective_from: "2026-01-01",
};
const order = {
  fp: "order_01K9TEST000000000000000R01",
  accession: "T34679AC",
  patient_fp: fp,
  device: null,
  tests: ["ALT"],
  ordered_at: at,
  state: "open",
};
const ranges = { version: "v1", low_quality: false, rows: [alt] };

function pageOf(...items: unknown[]) {
  return { success: true, data: { items, total: items.length, page: 1, page_size: 100, has_more: false } };
}

function answerTo({ url, body }: ScriptedRequest): unknown {
  switch (url.split("?")[0]) {
    case "/api/v1/patients":
      return pageOf(patient);
    case "/agent/v1/identifiers":
      return pageOf({ patient_fp: fp, identifiers: [externalId] });
    case "/agent/v1/ranges":
      return { success: true, data: ranges };
    case "/agent/v1/codes":
      return { success: true, data: [{ device_id: "chem-1", code: "413", analyte: "GLU" }] };
    case "/agent/v1/orders":
      return { success: true, data: { items: [order], changed_at: at, next: null } };
    case "/api/v1/calendar/events":
      return [{ fp: "event", status: "BOOKED", start_at: new Date().toISOString(), patient_fp: fp }];
    case "/agent/v1/studies": {
      const { studies } = body as { studies: { fp: string }[] };
      return { outcomes: studies.map((study) => ({ fp: study.fp, outcome: "filed", reason: null })) };
    }
    default:
      return {};
  }
}

async function laterServer(answer: (request: ScriptedRequest) => unknown) {
  server = await scriptedServer((request) => ({ status: 200, body: answer(request) }));
  return createServerClient(server.url, () => "sk_live_test");
}

test("patients, identifiers, orders and appointments of a later server are stored with their unknown fields", async () => {
  const http = await laterServer((request) => fromLater(answerTo(request)));
  const directory = new Directory(used.spool, http);
  await directory.sync();
  const { patients } = await directory.find({ identifier: externalId, otherIdentifiers: [] });
  expect(patients.map((found) => found.fp)).toEqual([fp]);
  expect(await used.spool.call("ordersByAccession", [order.accession])).toMatchObject([
    { fp: order.fp, patientFp: fp },
  ]);
  await syncAppointments(used.spool, http, "UTC");
  expect(await used.spool.call("appointedFps", 0, Date.now() + 86_400_000)).toEqual([fp]);
  expect(await http.post("/agent/v1/heartbeat", {})).toMatchObject({});
});

test("an interval with an unknown field is omitted, because the field may restrict its patients", async () => {
  const [understood, more] = [alt, { ...alt, id: "alt-pug", later_field: "pug" }];
  const http = await laterServer((request) =>
    request.url === "/agent/v1/ranges"
      ? { success: true, later_field: 1, data: { ...ranges, later_field: 1, rows: [understood, more] } }
      : answerTo(request),
  );
  const directory = new Directory(used.spool, http);
  await directory.sync();
  expect(await directory.ranges()).toEqual({ ...ranges, version: "v1 in part", rows: [understood] });
});

test("outcomes with unknown fields settle their studies", async () => {
  const message = { id: "M1", session: 1, ordinal: 0, device: "chem-1", profile: "generic-astm", receivedAt: 1 };
  await used.spool.call("addMessage", { ...message, bytes: Buffer.from("M1"), incomplete: null });
  const studies = [studyDraft({ dedupe_key: "key-1" })];
  await used.spool.call("settle", { message: "M1", state: "pending", reason: null, studies, completes: [], at: 1 });
  const http = await laterServer((request) => fromLater(answerTo(request)));
  const nothing = () => undefined;
  const events = { outcome: nothing, failed: nothing, recovered: nothing };
  const push = new Push(used.spool, http, events, { setTimer: new TestClock().setTimer, random: () => 1 });
  push.wake();
  const settled = () => readSpool(used.folder, listMessages).filter(({ state }) => state !== "pending");
  await until("it is settled", () => settled().length);
  await push.stop();
  expect(settled().map(({ state }) => state)).toEqual(["filed"]);
});
