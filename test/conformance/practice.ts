import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { assertShape, isObject, type Rule } from "./check.ts";
import { type ApiCheck, body, errorOf, events, fps, type JsonObject, page } from "./read.ts";
import type { Api, ApiResponse } from "./server.ts";

// Practice software sends to /sync/v1, with a key of a clinic of its own. Each check has its own source, so that a run repeats on a
// server that had one.

const HOUR_MS = 3_600_000;
const patientList = "/api/v1/patients?page_size=100";

const count: Rule = (value) => Number.isInteger(value) && (value as number) >= 0;
const counts = { created: count, updated: count, unchanged: count, deleted: count, rejected: count };
const item = {
  index: count,
  external_id: (value: unknown) => value === null || typeof value === "string",
  fp: (value: unknown) =>
    value === null || /^(patient|customer|order|calevt)_[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(value as string),
  outcome: (value: unknown) => ["created", "updated", "unchanged", "deleted", "rejected"].includes(String(value)),
  errors: Array.isArray,
} satisfies Record<string, Rule>;
const fault = {
  field: (value: unknown) => typeof value === "string",
  code: (value: unknown) => /^[a-z_]+$/.test(String(value)),
  message: (value: unknown) => / is .+, expected | is older than | was merged /.test(String(value)),
} satisfies Record<string, Rule>;

interface Item {
  external_id: string | null;
  fp: string | null;
  outcome: string;
  errors: { field: string; code: string; message: string }[];
}

interface Answer {
  dry_run: boolean;
  commit_token: string | null;
  counts: Record<string, number>;
  items: Item[];
}

/** Asserts the shape of a 200, and returns it. */
function answer(response: ApiResponse): Answer & JsonObject {
  const got = body(response);
  const { dry_run, commit_token, items } = got;
  assert.equal(typeof dry_run, "boolean");
  assert.equal(commit_token !== null, dry_run);
  assertShape(got["counts"], counts, "counts");
  assert.ok(Array.isArray(items));
  for (const [index, each] of items.entries()) {
    assert.ok(isObject(each));
    const { accession: _accession, ...rest } = each;
    assertShape(rest, item, "the item");
    assert.equal(each["index"], index);
    for (const one of each["errors"] as unknown[]) assertShape(one, fault, "the fault");
  }
  return got as unknown as Answer & JsonObject;
}

function outcomes({ items }: Answer): string[] {
  return items.map(({ outcome }) => outcome);
}

function codes({ items }: Answer): string[] {
  return items.flatMap(({ errors }) => errors.map(({ field, code }) => `${field} ${code}`));
}

/** A source of its own, and what is sent from it. */
function pims(api: Api) {
  const source = `conformance-${randomUUID().slice(0, 8)}`;
  const send = async (kind: string, items: unknown, more: object = {}, headers: object = {}) =>
    api.post(kind, { source, mode: "partial", items, ...more }, "writing", headers);
  const owner = {
    external_id: `${source}-owner`,
    name: "Secret-owner",
    phone: "555-secret",
    email: "secret@example.org",
  };
  const animal = (id: number | string, more: object = {}) => ({
    external_id: String(id),
    name: `${source} ${id}`,
    species: "Kedi",
    owner,
    ...more,
  });
  /** Returns the names of the source's patients in /api/v1, without the source. */
  const listed = async () => {
    const names: string[] = [];
    for (let number = 1; ; number += 1) {
      const { items, has_more } = page(await api.get(`${patientList}&page=${number}`, "writing"));
      names.push(...items.map(({ name }) => String(name)).filter((name) => name.startsWith(source)));
      if (!has_more) return names.map((name) => name.slice(source.length + 1)).toSorted();
    }
  };
  const merge = async (survivor: string, merged: string) => api.post("patients/merge", { source, survivor, merged });
  return { source, send, animal, listed, merge };
}

/** A time of the day before the run. */
function hour(api: Api, at: number): string {
  return new Date(api.today - 24 * HOUR_MS + at * HOUR_MS).toISOString();
}

export const practiceChecks: readonly ApiCheck[] = [
  {
    number: 168,
    title:
      "a sent patient is created once, updated, removed and brought back under one fp, and /api/v1 has its facts alone",
    async run(api) {
      const { send, animal, source } = pims(api);
      const sent = animal(1, { sex: "FS", breed: "Van", date_of_birth: "2020-02-29", weight_kg: 4.2 });
      const created = answer(await send("patients", [sent]));
      assert.deepEqual([created.dry_run, outcomes(created)], [false, ["created"]]);
      assert.deepEqual(created.counts, { created: 1, updated: 0, unchanged: 0, deleted: 0, rejected: 0 });
      const fp = created.items[0]?.fp;
      assert.deepEqual(outcomes(answer(await send("patients", [sent]))), ["unchanged"]);
      assert.deepEqual(outcomes(answer(await send("patients", [{ ...sent, weight_kg: 5 }]))), ["updated"]);
      const read = await api.get(`/api/v1/patients/${fp}`, "writing");
      const { owner_customer_fp: _o, created_at: _c, updated_at: _u, ...facts } = body(read)["data"] as JsonObject;
      const shown = { species: "cat", breed: "Van", sex: "female_spayed", date_of_birth: "2020-02-29", weight_kg: 5 };
      assert.deepEqual(facts, { fp, name: `${source} 1`, ...shown });
      assert.doesNotMatch(read.text + (await api.get(patientList, "writing")).text, /secret/i);
      const gone = answer(await send("patients", [{ external_id: "1", deleted: true }]));
      assert.deepEqual([outcomes(gone), gone.items[0]?.fp], [["deleted"], fp]);
      errorOf(await api.get(`/api/v1/patients/${fp}`, "writing"), 404, "PATIENT.NOT_FOUND");
      const back = answer(await send("patients", [sent]));
      assert.deepEqual([outcomes(back), back.items[0]?.fp], [["updated"], fp]);
    },
  },
  {
    number: 169,
    title: "an external_id twice in a request rejects both items, and its neighbour is stored",
    async run(api) {
      const { send, animal, listed } = pims(api);
      const got = answer(await send("patients", [animal(1), animal(2), animal(1, { weight_kg: 1 })]));
      assert.deepEqual(outcomes(got), ["rejected", "created", "rejected"]);
      assert.deepEqual(codes(got), ["external_id duplicate", "external_id duplicate"]);
      assert.deepEqual(await listed(), ["2"]);
    },
  },
  {
    number: 170,
    title: "a dry run has the outcomes and stores nothing, and its commit_token is good for these outcomes alone",
    async run(api) {
      const { send, animal, listed } = pims(api);
      const items = [animal(1), animal(2)];
      const dry = answer(await send("patients?dry_run=true", items));
      assert.deepEqual([dry.dry_run, outcomes(dry), dry.items[0]?.fp], [true, ["created", "created"], null]);
      assert.deepEqual(await listed(), []);
      await send("patients", [animal(2)]);
      const commit = `patients?commit_token=${dry.commit_token}`;
      errorOf(await send(commit, items), 409, "SYNC.STATE_MOVED");
      assert.deepEqual(await listed(), ["2"]);
      const again = answer(await send("patients?dry_run=true", items));
      const done = answer(await send(`patients?commit_token=${again.commit_token}`, items));
      assert.deepEqual([outcomes(done), outcomes(again)], [outcomes(again), ["created", "unchanged"]]);
    },
  },
  {
    number: 171,
    title: "the same Idempotency-Key gets the first answer again, another body 422, and a malformed one 400",
    async run(api) {
      const { send, animal } = pims(api);
      const id = { "idempotency-key": randomUUID() };
      const first = await send("patients", [animal(1)], {}, id);
      const second = await send("patients", [animal(1)], {}, id);
      assert.deepEqual([answer(second), second.headers.get("idempotency-replayed")], [answer(first), "true"]);
      errorOf(await send("patients", [animal(2)], {}, id), 422, "SYNC.ID_REUSED");
      errorOf(await send("patients", [], {}, { "idempotency-key": "x" }), 400, "REQUEST.MALFORMED");
      assert.deepEqual(outcomes(answer(await send("patients", [animal(1)]))), ["unchanged"]);
    },
  },
  {
    number: 172,
    title: "an item that is older than the stored state changes nothing and says so, also after a removal",
    async run(api) {
      const { send, animal, listed } = pims(api);
      const timed = (at: number, more: object = {}) => animal(1, { updated_at: hour(api, at), ...more });
      const sent = async (one: object) => answer(await send("patients", [one]));
      await sent(timed(5));
      const older = await sent(timed(4, { weight_kg: 9 }));
      assert.deepEqual([outcomes(older), codes(older)], [["unchanged"], ["updated_at older"]]);
      await sent({ external_id: "1", deleted: true, updated_at: hour(api, 7) });
      assert.deepEqual(outcomes(await sent(timed(6))), ["unchanged"]);
      assert.deepEqual(await listed(), []);
      assert.deepEqual(outcomes(await sent(timed(8))), ["updated"]);
      assert.deepEqual(await listed(), ["1"]);
    },
  },
  {
    number: 173,
    title: "a merge leaves the survivor, names it in /api/v1/changes, is harmless to repeat, and a circle is refused",
    async run(api) {
      const { send, animal, listed, merge } = pims(api);
      const { items } = answer(await send("patients", [animal(1), animal(2)]));
      const [survivor, merged] = [items[0]?.fp, items[1]?.fp];
      const moved = { studies: 0, soap_records: 0, events: 0 };
      assert.deepEqual(body(await merge("1", "2")), { outcome: "merged", fp: survivor, merged_fp: merged, moved });
      assert.deepEqual(body(await merge("1", "2")), { outcome: "unchanged", fp: survivor, merged_fp: null, moved });
      assert.deepEqual(await listed(), ["1"]);
      const since = encodeURIComponent(new Date(Date.now() - HOUR_MS).toISOString());
      const left = page(await api.get(`/api/v1/changes?page_size=100&after=${since}`, "writing")).items;
      assert.equal(left.find(({ fp }) => fp === merged)?.["merged_into"], survivor);
      const later = answer(await send("patients", [animal(2, { weight_kg: 3 })]));
      assert.deepEqual([later.items[0]?.fp, codes(later)], [survivor, ["external_id merged"]]);
      for (const [one, other, code] of [
        ["1", "1", "same"],
        ["2", "1", "circle"],
        ["x", "1", "unknown_survivor"],
      ] as const)
        assert.deepEqual(errorOf(await merge(one, other), 409, "SYNC.MERGE_REFUSED").details, { code });
    },
  },
  {
    number: 174,
    title: "a request of 500 items is stored, a larger one is 413 as a whole, and a body with another fault is 400",
    async run(api) {
      const { send, animal, listed, source } = pims(api);
      const many = Array.from({ length: 501 }, (_, index) => animal(index));
      errorOf(await send("patients", many), 413, "SYNC.TOO_MANY_ITEMS");
      assert.deepEqual(await listed(), []);
      assert.equal(answer(await send("patients", many.slice(1))).counts["created"], 500);
      assert.equal((await listed()).length, 500);
      for (const wrong of [
        {},
        { source: "a b", mode: "partial", items: [] },
        { source, mode: "some", items: [] },
        { source, mode: "partial", items: {} },
        { source, mode: "partial", items: [], more: 1 },
        { source, mode: "partial", items: [], all: ["1"] },
        { source, mode: "full", items: [{ name: "no id" }] },
        null,
        [],
      ]) {
        const { details } = errorOf(await api.post("patients", wrong), 400, "SYNC.INVALID_BODY");
        const faults = (details ?? {})["errors"] as unknown[];
        assert.ok(faults.length > 0);
        for (const one of faults) assertShape(one, fault, "the fault");
      }
      assert.equal((await listed()).length, 500);
    },
  },
  {
    number: 175,
    title:
      "a full list removes what it lacks, of its source alone, and more than a tenth only after a confirmed dry run",
    async run(api) {
      const [{ send, animal, listed }, other] = [pims(api), pims(api)];
      await other.send("patients", [other.animal(1)]);
      const ids = Array.from({ length: 20 }, (_, index) => String(index + 10));
      await send(
        "patients",
        ids.map((id) => animal(id)),
      );
      const full = async (all: readonly string[], parameters = "") =>
        send(`patients${parameters}`, [], { mode: "full", all });
      assert.equal(answer(await full(ids.slice(2))).counts["deleted"], 2);
      assert.deepEqual(await listed(), ids.slice(2));
      const refused = errorOf(await full(ids.slice(12)), 409, "SYNC.TOO_MANY_REMOVALS");
      assert.deepEqual(refused.details, { removals: 10, patients: 18 });
      errorOf(await full(ids.slice(12), "?confirm_removals=true"), 400, "REQUEST.INVALID_PARAMETER");
      const dry = answer(await full(ids.slice(12), "?dry_run=true"));
      assert.deepEqual([dry.counts["deleted"], (await listed()).length], [10, 18]);
      const confirm = `?confirm_removals=true&commit_token=${dry.commit_token}`;
      errorOf(await full(ids.slice(11), confirm), 409, "SYNC.STATE_MOVED");
      const done = answer(await full(ids.slice(12), confirm));
      const absent = (done["absent"] as { external_id: string }[]).map(({ external_id }) => external_id);
      assert.deepEqual([absent, await listed()], [ids.slice(2, 12), ids.slice(12)]);
      assert.deepEqual(await other.listed(), ["1"]);
    },
  },
  {
    number: 176,
    title: "a rejected item names field and code in a sentence without the owner's data, and its neighbour is stored",
    async run(api) {
      const { send, animal, listed } = pims(api);
      const wrong: [object | null, string][] = [
        [null, " wrong_type"],
        [{ ...animal(1), external_id: 1 }, "external_id wrong_type"],
        [animal(1, { name: " " }), "name blank"],
        [animal(1, { species: "Zebra?" }), "species unknown_species"],
        [animal(1, { date_of_birth: "2021-02-29" }), "date_of_birth not_a_day"],
        [animal(1, { weight_kg: "4,2" }), "weight_kg wrong_type"],
        [animal(1, { updated_at: "2026-01-01" }), "updated_at wrong_form"],
        [animal(1, { identifiers: [{ type: "microchip", value: "9.85112E+14" }] }), "identifiers/0/value lost_digits"],
        [
          animal(1, { owner: { external_id: "1", name: "Secret-owner", phone: "555-secret".repeat(9) } }),
          "owner/phone too_long",
        ],
        [animal(1, { colour: "white" }), "colour unknown_field"],
      ];
      for (const [index, [one, expected]] of wrong.entries()) {
        const response = await send("patients", [one, animal(`good ${index}`)]);
        const got = answer(response);
        assert.deepEqual([outcomes(got), codes(got)], [["rejected", "created"], [expected]]);
        assert.doesNotMatch(response.text, /secret/i);
      }
      assert.equal((await listed()).length, wrong.length);
    },
  },
  {
    number: 177,
    title: "owners change alone, and an order has its accession, is unchanged when repeated, and is cancelled",
    async run(api) {
      const { send, animal } = pims(api);
      const sent = animal(1);
      await send("patients", [sent]);
      assert.deepEqual(outcomes(answer(await send("owners", [{ ...sent.owner, phone: null }]))), ["updated"]);
      const order = { external_id: "o1", patient: "1", tests: ["ALT"], ordered_at: hour(api, 1) };
      const placed = answer(await send("orders", [order]));
      const { accession } = placed.items[0] as unknown as { accession: string };
      assert.match(accession, /^\w{8}$/);
      const again = answer(await send("orders", [order]));
      assert.deepEqual([outcomes(placed), outcomes(again)], [["created"], ["unchanged"]]);
      assert.equal((again.items[0] as unknown as { accession: string }).accession, accession);
      assert.deepEqual(outcomes(answer(await send("orders", [{ ...order, cancelled: true }]))), ["updated"]);
      const unknown = answer(await send("orders", [{ ...order, external_id: "o2", patient: "x" }]));
      assert.deepEqual(codes(unknown), ["patient unknown_patient"]);
    },
  },
  {
    number: 178,
    title:
      "an appointment is an event of the calendar, changes, is cancelled for good, and comes back as another event",
    async run(api) {
      const { send, animal } = pims(api);
      const patient_fp = answer(await send("patients", [animal(1)])).items[0]?.fp;
      const at = (hours: number) => new Date(api.today + 40 * 24 * HOUR_MS + hours * HOUR_MS).toISOString();
      const visit = {
        external_id: "v1",
        title: "Visit",
        type: "CHECKUP",
        patient: "1",
        start_at: at(1),
        end_at: at(2),
      };
      const sent = async (one: object) => answer(await send("appointments", [one]));
      const created = await sent(visit);
      const fp = created.items[0]?.fp;
      const range = `start_date=${at(0)}&end_date=${at(9)}`;
      const found = async (wanted: unknown) =>
        events(await api.get(`/api/v1/calendar/events?${range}`, "writing")).find((event) => event["fp"] === wanted);
      const event = { fp, title: "Visit", type: "CHECKUP", status: "SCHEDULED", patient_fp, assigned_user_fp: null };
      assert.deepEqual(await found(fp), { ...event, start_at: at(1), end_at: at(2) });
      const [same, later] = [await sent(visit), await sent({ ...visit, start_at: at(3), end_at: at(4) })];
      assert.deepEqual([created, same, later].map(outcomes), [["created"], ["unchanged"], ["updated"]]);
      assert.equal((await found(fp))?.["start_at"], at(3));
      assert.deepEqual(outcomes(await sent({ external_id: "v1", deleted: true })), ["deleted"]);
      assert.equal((await found(fp))?.["status"], "CANCELLED");
      const back = await sent(visit);
      assert.notEqual(back.items[0]?.fp, fp);
      assert.deepEqual([outcomes(back), (await found(fp))?.["status"]], [["created"], "CANCELLED"]);
      await sent({ external_id: "v1", deleted: true });
    },
  },
  {
    number: 179,
    title: "only a key with clinic.sync.write sends, and that permission alone reads nothing",
    async run(api) {
      const { animal, source, send, listed } = pims(api);
      const sent = { source, mode: "partial", items: [animal(1)] };
      for (const path of ["patients", "owners", "orders", "appointments", "patients/merge"]) {
        const refused = errorOf(await api.post(path, sent, "lonely"), 403, "AUTH.FORBIDDEN");
        assert.match(JSON.stringify(refused.details), /clinic\.sync\.write/);
        const headers = { "content-type": "application/json" };
        const stranger = await api.send(`/sync/v1/${path}`, { method: "POST", headers, body: JSON.stringify(sent) });
        errorOf(stranger, 401, "AUTH.UNAUTHORIZED");
      }
      assert.deepEqual(await listed(), []);
      errorOf(await api.get(patientList, "writeOnly"), 403, "AUTH.FORBIDDEN");
      assert.deepEqual(outcomes(answer(await send("patients", [animal(1)]))), ["created"]);
      assert.equal(fps(page(await api.get(patientList, "lonely")).items).length, 0);
    },
  },
];

export const practiceLimitChecks: readonly ApiCheck[] = [
  {
    number: 180,
    title: "a key beyond its budget of /sync/v1 gets 429 with the seconds to wait, and its reads go on",
    async run(api) {
      const { source } = pims(api);
      const { writeLimited: key } = api.keys;
      const headers = { "x-api-key": key, "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify({ source, mode: "partial", items: [] }) };
      let response = await api.send("/sync/v1/patients", init);
      for (let sent = 1; sent < 5000 && response.status === 200; sent += 1)
        response = await api.send("/sync/v1/patients", init);
      errorOf(response, 429, "API_KEY.RATE_LIMIT_EXCEEDED");
      assert.match(response.headers.get("retry-after") ?? "", /^[1-9]\d{0,3}$/);
      assert.equal((await api.send("/api/v1/patients", { headers: { "x-api-key": key } })).status, 200);
    },
  },
];
