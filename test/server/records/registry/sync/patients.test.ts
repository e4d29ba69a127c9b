import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newFp } from "../../../../../shared/api/fp.ts";
import type { Patient } from "../../../../../shared/api/patient.ts";
import type { SyncAnswer } from "../../../../../server/records/registry/sync/messages.ts";
import { query } from "../../../../../server/database/query.ts";
import { listRows } from "../../../../../server/records/audit/audit.ts";
import { type ApiDocument, Contract } from "../../../../support/runner/contract.ts";
import {
  allStored,
  clinic,
  connection,
  importEntities,
  noon,
  onPostgres,
  startServer,
  study,
  type TestServer,
} from "../../../harness.ts";

// Practice software sends patients to /sync/v1/patients. Method: requests to the API of a server, and what /api/v1, the agent's
// directory and the database have afterwards. Runs on both engines.

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
const ada = { external_id: "3001", name: "Ada Örnek", phone: "+90 555 000 00 00", email: "ada@example.org" };
const pamuk = {
  external_id: "00417",
  name: "Pamuk",
  species: "Kedi",
  breed: "Van kedisi",
  sex: "FS",
  date_of_birth: "2020-02-29",
  weight_kg: 4.2,
  owner: ada,
  identifiers: [{ type: "microchip", value: "900 085 000 123 456" }],
  updated_at: "2026-11-21T06:45:00Z",
};

type Item = Record<string, unknown>;

/** The contract of /sync/v1. All servers share it, since its schemas are slow to compile. */
let contract: Contract | undefined;

async function pimsServer() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const key = await server.makeKey(ours, ["clinic.sync.write"]);
  const reader = await server.makeKey(ours, ["clinic.patient.view", "clinic.lab.ingest"]);
  const post = async (payload: unknown, parameters = "", headers: Record<string, string> = {}, by = key) => {
    const url = `/sync/v1/${parameters === "owners" ? parameters : `patients${parameters}`}`;
    const sent = { method: "POST" as const, url, headers: { "x-api-key": by, ...headers }, payload: payload as object };
    const response = await server.app.inject(sent);
    contract ??= new Contract((await server.app.inject("/sync/openapi.json")).json<ApiDocument>());
    const { statusCode, headers: got, body: text } = response;
    const answered = { method: "POST", url, status: statusCode, headers: Object.entries(got), text };
    expect(contract.problems(answered)).toEqual([]);
    const answer = response.json<SyncAnswer & { error: { code: string; message: string; details?: unknown } }>();
    return { status: response.statusCode, headers: response.headers, answer };
  };
  const send = async (...items: Item[]) => (await post(batch(...items))).answer;
  const list = async (): Promise<Patient[]> =>
    (await server.get(reader, "/api/v1/patients?page_size=100")).body.data.items;
  return { server, key, reader, post, send, list };
}

function batch(...items: unknown[]) {
  return { source: "pims", mode: "partial", items };
}

function outcomes({ items }: SyncAnswer) {
  return items.map(({ outcome }) => outcome);
}

function faults({ items }: SyncAnswer) {
  return items.flatMap(({ errors }) => errors.map(({ field, code }) => `${field} ${code}`));
}

/** Returns the patients without what the server chose. */
function facts(patients: readonly Patient[]) {
  return patients
    .map(({ name, species, breed, sex, date_of_birth, weight_kg }) =>
      JSON.stringify([name, species, breed, sex, date_of_birth, weight_kg]),
    )
    .toSorted();
}

const animals = query((db) =>
  db
    .selectFrom("patient_source")
    .innerJoin("patient", "patient.id", "patient_source.patient_id")
    .innerJoin("customer_source", "customer_source.customer_id", "patient.owner_customer_id")
    .select(["patient_source.external_id", "patient.name", "species", "precise_species", "sex", "weight_kg"])
    .select("customer_source.external_id as owner")
    .where("removed", "=", 0),
);

const numbers = query((db) =>
  db
    .selectFrom("patient_source")
    .innerJoin("patient_identifier", "patient_identifier.patient_id", "patient_source.patient_id")
    .select(["external_id", "identifier", "type", "position"])
    .where("removed", "=", 0),
);

const owners = query((db) =>
  db
    .selectFrom("customer_source")
    .innerJoin("customer", "customer.id", "customer_source.customer_id")
    .select(["external_id", "name", "phone", "email"]),
);

describe("practice software", () => {
  test("a sent patient is in /api/v1 and in the agent's directory, with its words and numbers read", async () => {
    const { server, reader, post, list } = await pimsServer();
    const { status, answer } = await post(batch(pamuk));
    const [item] = answer.items;
    expect([status, answer]).toEqual([
      200,
      {
        dry_run: false,
        commit_token: null,
        counts: { created: 1, updated: 0, unchanged: 0, deleted: 0, rejected: 0 },
        items: [
          { index: 0, external_id: "00417", fp: expect.stringMatching(/^patient_/), outcome: "created", errors: [] },
        ],
      },
    ]);
    expect(await list()).toEqual([
      {
        fp: item?.fp,
        name: "Pamuk",
        species: "cat",
        breed: "Van kedisi",
        sex: "female_spayed",
        date_of_birth: "2020-02-29",
        weight_kg: 4.2,
        owner_customer_fp: expect.stringMatching(/^customer_/),
        created_at: new Date(noon).toISOString(),
        updated_at: expect.any(String),
      },
    ]);
    const { body } = await server.get(reader, "/agent/v1/identifiers?updated_since=2026-11-21");
    expect(body.data.items).toEqual([{ patient_fp: item?.fp, identifiers: ["900085000123456"] }]);
  });

  test("each change has its outcome, and other clinics and other sources have other patients", async () => {
    const { server, post, send, list } = await pimsServer();
    expect(outcomes(await send(pamuk))).toEqual(["created"]);
    const [first] = await list();
    expect(outcomes(await send(pamuk))).toEqual(["unchanged"]);
    expect(outcomes(await send({ ...pamuk, name: "Pamuk II" }))).toEqual(["updated"]);
    expect(outcomes(await send({ ...pamuk, name: "Pamuk II", owner: { ...ada, phone: null } }))).toEqual(["updated"]);
    expect(await list()).toMatchObject([{ fp: first?.fp, name: "Pamuk II" }]);
    expect(outcomes(await send({ external_id: "00417", deleted: true }))).toEqual(["deleted"]);
    expect(outcomes(await send({ external_id: "00417", deleted: true }, { external_id: "1", deleted: true }))).toEqual([
      "unchanged",
      "unchanged",
    ]);
    expect(await list()).toEqual([]);
    const back = await send(pamuk);
    expect([outcomes(back), back.items[0]?.fp]).toEqual([["updated"], first?.fp]);
    expect(await list()).toMatchObject([{ fp: first?.fp, name: "Pamuk" }]);

    expect(outcomes((await post({ ...batch(pamuk), source: "other" })).answer)).toEqual(["created"]);
    const foreign = await server.makeKey(theirs, ["clinic.sync.write"]);
    expect(outcomes((await post(batch(pamuk), "", {}, foreign)).answer)).toEqual(["created"]);
    expect(outcomes((await post(batch({ external_id: "00417", deleted: true }), "", {}, foreign)).answer)).toEqual([
      "deleted",
    ]);
    expect(await list()).toHaveLength(2);
  });

  test("a patient that another clinic is connected to leaves only the clinic that removes it", async () => {
    const { server, send, list } = await pimsServer();
    const fp = (await send(pamuk)).items[0]?.fp ?? "";
    await importEntities(server.store, connection(fp, theirs));
    expect(outcomes(await send({ external_id: "00417", deleted: true }))).toEqual(["deleted"]);
    const foreign = await server.makeKey(theirs, ["clinic.patient.view"]);
    expect((await server.get(foreign, `/api/v1/patients/${fp}`)).status).toBe(200);
    expect(await list()).toEqual([]);
    expect(outcomes(await send(pamuk))).toEqual(["updated"]);
    expect(await list()).toMatchObject([{ fp }]);
  });

  test("a study that waited for its patient is filed when the agent pushes it after the patient came", async () => {
    const { server, reader, send } = await pimsServer();
    const waiting = study({ patient_hint: { ...study().patient_hint, identifier: "900085000123456" } });
    expect(await server.push(reader, waiting)).toMatchObject([{ outcome: "unmatched" }]);
    const fp = (await send(pamuk)).items[0]?.fp ?? null;
    expect(await server.push(reader, { ...waiting, patient_fp: fp, revision: 2 })).toMatchObject([
      { outcome: "filed" },
    ]);
    expect((await server.get(reader, `/api/v1/patients/${fp}`)).status).toBe(200);
  });

  test("an older item changes nothing, says so, and does not bring a removed patient back", async () => {
    const { send, list } = await pimsServer();
    const at = (hour: number, more: Item = {}) => ({
      ...pamuk,
      updated_at: `2026-11-21T0${hour}:00:00+03:00`,
      ...more,
    });
    await send(at(5));
    const older = await send(at(4, { name: "Old" }));
    expect([outcomes(older), faults(older)]).toEqual([["unchanged"], ["updated_at older"]]);
    await send(at(7, { deleted: true }), { external_id: "2", deleted: true, updated_at: "2026-11-21T02:00:00Z" });
    expect(outcomes(await send(at(6), at(1, { external_id: "2" })))).toEqual(["unchanged", "unchanged"]);
    expect(await list()).toEqual([]);
    expect(outcomes(await send(at(8), at(9, { external_id: "2", name: "Two" })))).toEqual(["updated", "created"]);
    expect(facts(await list()).map((row) => JSON.parse(row)[0])).toEqual(["Pamuk", "Two"]);
  });

  test("the newest item of a request decides the facts of its owner, and a client of the clinic finds the change", async () => {
    const { server, reader, send } = await pimsServer();
    const named = (external_id: string, name: string, updated_at: string) => {
      return { ...pamuk, external_id, updated_at, owner: { ...ada, name } };
    };
    const [newer, older] = ["2026-11-21T06:00:00Z", "2026-11-21T05:00:00Z"];
    await send(named("1", "New", newer), named("2", "Old", older));
    const nameOf = async () => (await server.store.all(owners, {})).map(({ name }) => name);
    expect(await nameOf()).toEqual(["New"]);
    await send(named("3", "Old", older), named("4", "Newest", "2026-11-21T07:00:00Z"));
    expect(await nameOf()).toEqual(["Newest"]);
    await server.get(reader, "/api/v1/patients");
    server.clock.now += 60_000;
    const since = new Date(server.clock.now).toISOString();
    await send({ ...named("2", "Newest", "2026-11-21T08:00:00Z"), weight_kg: 5 });
    const { body } = await server.get(reader, `/api/v1/patients?updated_since=${since}`);
    expect(body.data.items).toMatchObject([{ weight_kg: 5 }]);
  });

  test("owners change without their patients, by the time of the newest item, and a fault does not repeat their data", async () => {
    const { server, post, send } = await pimsServer();
    const sendOwners = async (...items: unknown[]) => (await post(batch(...items), "owners")).answer;
    const at = (hour: number, name: string) => ({ ...ada, name, updated_at: `2026-11-21T0${hour}:00:00Z` });
    const created = await sendOwners(at(5, "First"));
    expect([outcomes(created), created.items[0]?.fp]).toEqual([["created"], expect.stringMatching(/^customer_/)]);
    expect(outcomes(await send({ ...pamuk, updated_at: "2026-11-21T06:00:00Z" }))).toEqual(["created"]);
    const older = await sendOwners(at(5, "Old"));
    expect([outcomes(older), faults(older)]).toEqual([["unchanged"], ["updated_at older"]]);
    const next = await sendOwners(at(7, "Next"), { ...ada, external_id: "2", phone: "9".repeat(41) }, { name: "x" });
    expect([outcomes(next), faults(next)]).toEqual([
      ["updated", "rejected", "rejected"],
      ["phone too_long", "external_id missing"],
    ]);
    expect(JSON.stringify(next)).not.toContain("9999999");
    expect(await server.store.all(owners, {})).toEqual([
      { external_id: "3001", name: "Next", phone: ada.phone, email: ada.email },
    ]);
  });

  test("a horse and a ferret are stored as they are, and served as exotic", async () => {
    const { server, send, list } = await pimsServer();
    await send({ ...pamuk, species: "Pferd", sex: "Wallach" }, { ...pamuk, external_id: "2", species: "FERRET" });
    expect((await list()).map(({ species, sex }) => [species, sex])).toEqual([
      ["exotic", "female_spayed"],
      ["exotic", "male_neutered"],
    ]);
    for (const word of ["horse", "ferret"]) expect(allStored(server.database)).toContain(word);
  });
});

describe("a request", () => {
  test("a dry run has the outcomes of the request and stores nothing, and its token is refused once they differ", async () => {
    const { server, post, send, list } = await pimsServer();
    await send(pamuk);
    const next = batch({ ...pamuk, name: "Boncuk" }, { ...pamuk, external_id: "2" }, { external_id: 3 });
    const dry = await post(next, "?dry_run=true");
    expect(dry.answer).toMatchObject({
      dry_run: true,
      commit_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      counts: { created: 1, updated: 1, unchanged: 0, deleted: 0, rejected: 1 },
    });
    expect(dry.answer.items[1]?.fp).toBeNull();
    expect((await post(next, "?dry_run=true")).answer).toEqual(dry.answer);
    expect(await list()).toMatchObject([{ name: "Pamuk" }]);
    const commit = `?commit_token=${dry.answer.commit_token}`;
    server.clock.now += 1000;
    await send({ ...pamuk, name: "Changed in between" });
    const refused = await post(next, commit);
    expect([refused.status, refused.answer.error.code]).toEqual([409, "SYNC.STATE_MOVED"]);
    const again = await post(next, "?dry_run=true");
    const done = await post(next, `?commit_token=${again.answer.commit_token}`);
    expect(done.answer.counts).toEqual(dry.answer.counts);
    expect(outcomes(done.answer)).toEqual(outcomes(again.answer));
    expect((await list()).map(({ name }) => name).toSorted()).toEqual(["Boncuk", "Pamuk"]);
  });

  test("the same Idempotency-Key gets the same answer for a day, and another body is refused", async () => {
    const { server, post } = await pimsServer();
    const id = { "idempotency-key": "7f0c2a52-9a51-4b0e-8a3d-0c6f6a1d2b7e" };
    const first = await post(batch(pamuk), "", id);
    const second = await post(batch(pamuk), "", id);
    expect([second.answer, second.headers["idempotency-replayed"]]).toEqual([first.answer, "true"]);
    const other = await post(batch({ ...pamuk, name: "Other" }), "", id);
    expect([other.status, other.answer.error.code]).toEqual([422, "SYNC.ID_REUSED"]);
    expect((await post(batch(pamuk), "", { "idempotency-key": "short" })).answer.error.code).toBe("REQUEST.MALFORMED");
    server.clock.now += 24 * 3_600_000 + 1;
    expect(outcomes((await post(batch(pamuk), "", id)).answer)).toEqual(["unchanged"]);
  });

  test("two equal requests at the same time create one patient", async () => {
    const { post, list } = await pimsServer();
    const answers = await Promise.all([1, 2, 3].map(async () => post(batch(pamuk))));
    expect(answers.flatMap(({ answer }) => outcomes(answer)).toSorted()).toEqual(["created", "unchanged", "unchanged"]);
    expect(await list()).toHaveLength(1);
  });

  test("a key without the permission may not send, and one with it may not read", async () => {
    const { server, key, reader, post } = await pimsServer();
    const refused = await post(batch(pamuk), "", {}, reader);
    expect([refused.status, refused.answer.error.details]).toEqual([403, { required: ["clinic.sync.write"] }]);
    expect((await post(batch(pamuk), "", {}, "sk_live_nothing")).status).toBe(401);
    expect((await server.get(key, "/api/v1/patients")).status).toBe(403);
  });

  test("the audit names each changed patient and the key, and no log, answer or /api/v1 has an owner's data", async () => {
    const { server, reader, post, send, list } = await pimsServer();
    const { items } = await send(pamuk);
    await send({ ...pamuk, weight_kg: 5 });
    const long = await send(pamuk, { ...pamuk, external_id: "2", owner: { ...ada, phone: "9".repeat(41) } });
    expect(faults(long)).toEqual(["owner/phone too_long"]);
    const [patient] = await list();
    const rows = [];
    for await (const row of listRows(server.store, { since: 0, until: noon * 2 })) rows.push(row);
    const commands = rows.filter(({ method }) => method === "COMMAND");
    expect(commands.map(({ route, fp, key }) => [route, fp, key?.slice(0, 4)])).toEqual([
      ["sync: patient created", items[0]?.fp, "key_"],
      ["sync: patient updated", items[0]?.fp, "key_"],
      ["sync: patient updated", items[0]?.fp, "key_"],
    ]);
    const stored = allStored(server.database);
    expect(stored).toContain(ada.email);
    const id = { "idempotency-key": "7f0c2a52-9a51-4b0e-8a3d" };
    const wrong = await post(batch({ ...pamuk, owner: { ...ada, email: ["ada@example.org"] } }), "", id);
    expect(faults(wrong.answer)).toEqual(["owner/email wrong_type"]);
    const read = JSON.stringify([patient, (await server.get(reader, `/api/v1/patients/${patient?.fp}`)).body]);
    for (const secret of [ada.name, ada.phone, ada.email, "9999999"]) {
      expect(
        [server.log.join("\n"), read, JSON.stringify([wrong.answer, long, rows])].map((text) => text.includes(secret)),
      ).toEqual([false, false, false]);
    }
  });
});

describe("wrong inputs", () => {
  const wrong: readonly (readonly [change: Item | null, faults: readonly string[]])[] = [
    [null, [" wrong_type"]],
    [{ external_id: undefined }, ["external_id missing"]],
    [{ external_id: 417 }, ["external_id wrong_type"]],
    [{ external_id: "" }, ["external_id too_short"]],
    [{ external_id: "x".repeat(65) }, ["external_id too_long"]],
    [{ external_id: "a\0b" }, ["external_id bad_text"]],
    [{ name: undefined, species: undefined }, ["name missing", "species missing"]],
    [{ name: "  " }, ["name blank"]],
    [{ name: "half \ud83d" }, ["name bad_text"]],
    [{ species: "Zebra?" }, ["species unknown_species"]],
    [{ species: "dog or cat" }, ["species unknown_species"]],
    [{ sex: "whatever" }, ["sex unknown_sex"]],
    [{ weight_kg: "4,2" }, ["weight_kg wrong_type"]],
    [{ weight_kg: -1 }, ["weight_kg out_of_range"]],
    [{ date_of_birth: "29.02.2020" }, ["date_of_birth wrong_form"]],
    [{ date_of_birth: "2021-02-29" }, ["date_of_birth not_a_day"]],
    [{ date_of_birth: "2030-01-01" }, ["date_of_birth out_of_range"]],
    [{ owner: undefined }, ["owner missing"]],
    [{ owner: { name: "Ada" } }, ["owner/external_id missing"]],
    [{ owner: { ...ada, name: " " } }, ["owner/name blank"]],
    [{ owner: { ...ada, mobile: "1" } }, ["owner/mobile unknown_field"]],
    [{ identifiers: [{ type: "microchip", value: "9.85112E+14" }] }, ["identifiers/0/value lost_digits"]],
    [{ identifiers: [{ type: "microchip", value: "40000000123456" }] }, ["identifiers/0/value lost_zero"]],
    [{ identifiers: [{ type: "rfid", value: "1234" }] }, ["identifiers/0/type not_allowed"]],
    [{ identifiers: "900085000123456" }, ["identifiers wrong_type"]],
    [{ updated_at: "2026-11-21T06:45:00" }, ["updated_at wrong_form"]],
    [{ updated_at: "2026-02-30T06:45:00Z" }, ["updated_at not_a_time"]],
    [{ updated_at: "2026-11-30T06:45:00Z" }, ["updated_at in_the_future"]],
    [{ deceased_at: "yesterday" }, ["deceased_at not_a_time"]],
    [{ deleted: "yes" }, ["deleted not_allowed"]],
    [{ colour: "white" }, ["colour unknown_field"]],
  ];

  test("each wrong item is rejected with its fields and codes, and the items beside it are stored", async () => {
    const { send, list } = await pimsServer();
    for (const [index, [change, expected]] of wrong.entries()) {
      const good = { ...pamuk, external_id: `good ${index}`, name: `good ${index}` };
      const answer = await send((change === null ? null : { ...pamuk, ...change }) as Item, good);
      expect([change, outcomes(answer), faults(answer)]).toEqual([change, ["rejected", "created"], expected]);
      for (const { message } of answer.items[0]?.errors ?? []) expect(message).toMatch(/ is .+, expected /);
      expect(answer.items[0]?.fp).toBeNull();
    }
    expect((await list()).every(({ name }) => name.startsWith("good"))).toBe(true);
    expect(await list()).toHaveLength(wrong.length);
  });

  test("two items with one external_id are both rejected, and the third one is stored", async () => {
    const { send, list } = await pimsServer();
    const answer = await send(pamuk, { ...pamuk, external_id: "2" }, { ...pamuk, name: "Other" });
    expect([outcomes(answer), faults(answer)]).toEqual([
      ["rejected", "created", "rejected"],
      ["external_id duplicate", "external_id duplicate"],
    ]);
    expect(await list()).toHaveLength(1);
  });

  test.each([
    [[], 400, "SYNC.INVALID_BODY"],
    [{ mode: "partial", items: [] }, 400, "SYNC.INVALID_BODY"],
    [{ source: "a b", mode: "partial", items: [] }, 400, "SYNC.INVALID_BODY"],
    [{ source: "pims", mode: "some", items: [] }, 400, "SYNC.INVALID_BODY"],
    [{ source: "pims", mode: "partial", items: {} }, 400, "SYNC.INVALID_BODY"],
    [{ source: "pims", mode: "partial", items: [pamuk], more: 1 }, 400, "SYNC.INVALID_BODY"],
    [{ source: "pims", mode: "full", items: [pamuk, { name: "no id" }] }, 400, "SYNC.INVALID_BODY"],
    [{ source: "pims", mode: "partial", items: [pamuk], all: ["00417"] }, 400, "SYNC.INVALID_BODY"],
    [{ source: "pims", mode: "full", items: [], all: [1] }, 400, "SYNC.INVALID_BODY"],
    [{ source: "pims", mode: "partial", items: Array.from({ length: 501 }, () => pamuk) }, 413, "SYNC.TOO_MANY_ITEMS"],
  ])("a wrong body as a whole is refused, and nothing is stored %#", async (body, status, code) => {
    const { post, list } = await pimsServer();
    const refused = await post(body);
    expect([refused.status, refused.answer.error.code]).toEqual([status, code]);
    expect(await list()).toEqual([]);
  });
});

describe("properties", () => {
  const time = fc.integer({ min: 0, max: 9 }).map((hour) => `2026-11-2${hour % 2}T0${hour}:00:00Z`);
  const item = fc.record(
    {
      external_id: fc.constantFrom("1", "2", "3"),
      name: fc.constantFrom("A", "B"),
      species: fc.constantFrom("dog", "Kedi", "Pferd", "Frettchen"),
      owner: fc.record({ external_id: fc.constantFrom("o1", "o2"), name: fc.constantFrom("X", "Y") }),
      sex: fc.option(fc.constantFrom("M", "FS", "wk")),
      weight_kg: fc.option(fc.constantFrom(1, 2)),
      identifiers: fc.array(
        fc.record({ type: fc.constantFrom("card", "tattoo"), value: fc.constantFrom("n1", "n2", "n3") }),
        { maxLength: 2 },
      ),
      deleted: fc.constant(true),
    },
    { requiredKeys: ["external_id", "name", "species", "owner"] },
  );
  const items = fc.uniqueArray(item, { selector: ({ external_id }) => external_id, minLength: 1 });

  /** Returns the patients, their numbers and the owners as they are stored, without fps and times. */
  async function seen({ store }: TestServer): Promise<string[]> {
    const rows = [
      ...(await store.all(animals, {})),
      ...(await store.all(numbers, {})),
      ...(await store.all(owners, {})),
    ];
    return rows.map((row) => JSON.stringify(row)).toSorted();
  }

  test("sending a batch twice changes nothing, and says so", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(items, { minLength: 1, maxLength: 3 }), async (batches) => {
        const { server, send, list } = await pimsServer();
        for (const sent of batches) await send(...sent);
        const before = [await seen(server), await list()];
        const last = await send(...(batches.at(-1) ?? []));
        expect(new Set(outcomes(last))).toEqual(new Set(["unchanged"]));
        expect([await seen(server), await list()]).toEqual(before);
      }),
      { numRuns: onPostgres() ? 3 : 8, endOnFailure: true },
    );
  });

  test("batches with different updated_at give the same animals in any order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.record({ time, items }), { selector: (each) => each.time, minLength: 2, maxLength: 4 }),
        fc.infiniteStream(fc.nat()),
        async (timed, order) => {
          const batches = timed.map((each) => each.items.map((one) => ({ ...one, updated_at: each.time })));
          const shuffled = batches
            .map((one) => ({ one, rank: order.next().value }))
            .toSorted((a, b) => a.rank - b.rank)
            .map(({ one }) => one);
          const results = [];
          for (const sequence of [batches, shuffled, batches.toReversed()]) {
            const { server, send, list } = await pimsServer();
            for (const sent of sequence) await send(...sent);
            results.push([await seen(server), facts(await list())]);
          }
          expect(results[1]).toEqual(results[0]);
          expect(results[2]).toEqual(results[0]);
          // The newest item of each patient alone gives the same patients.
          const newest = new Map(
            batches
              .flat()
              .toSorted((a, b) => (a.updated_at < b.updated_at ? -1 : 1))
              .map((one) => [one.external_id, one]),
          );
          const { send, list } = await pimsServer();
          await send(...newest.values());
          expect(facts(await list())).toEqual(results[0]?.[1]);
        },
      ),
      { numRuns: onPostgres() ? 3 : 8, endOnFailure: true },
    );
  });
});
