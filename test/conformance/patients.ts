import assert from "node:assert/strict";
import { isForbidden } from "./access.ts";
import { assertShape } from "./check.ts";
import { clinics, connection, fixedFp, listed, patient, type PatientRow, patients } from "./data.ts";
import { endpoints } from "./endpoints.ts";
import { type ApiCheck, errorOf, fps, page, record, walk } from "./read.ts";
import type { Api, KeyName } from "./server.ts";
import * as shapes from "./shapes.ts";

// The patient, the list, one of them.

const list = "/api/v1/patients";
const species = ["dog", "cat", "rabbit", "bird", "reptile", "exotic"] as const;

export const patientChecks: readonly ApiCheck[] = [
  {
    number: 31,
    title: "a patient has exactly the ten fields, with the stored values",
    async run(api) {
      const found = record(await api.get(`${list}/${patients.shared.fp}`));
      assertShape(found, shapes.patient, "the patient");
      assert.deepEqual(found, patients.shared);
      assert.deepEqual(await walk(api, list, 100), listed.ours);
    },
  },
  {
    number: 32,
    title: "species is lower case, and filters by the six values",
    async run(api) {
      for (const name of species) await lists(api, `?species=${name}`, (row) => row.species === name);
    },
  },
  {
    number: 33,
    title: "a patient that another clinic has too is in our list and can be got",
    async run(api) {
      assert.ok(fps(await walk(api, list, 100)).includes(patients.shared.fp), "it is not listed");
      assert.equal((await api.get(`${list}/${patients.shared.fp}`)).status, 200);
    },
  },
  {
    number: 34,
    title: "a patient whose connection ended is neither in the list nor to be got",
    async run(api) {
      assert.ok(!fps(await walk(api, list, 100)).includes(patients.closed.fp), "it is listed");
      errorOf(await api.get(`${list}/${patients.closed.fp}`), 403, "PATIENT.ACCESS_DENIED");
    },
  },
  {
    number: 35,
    title: "two connected clinics see the same patient",
    async run(api) {
      const path = `${list}/${patients.shared.fp}`;
      assert.equal((await api.get(path, "ours")).text, (await api.get(path, "theirs")).text);
    },
  },
  {
    number: 36,
    title: "a deleted patient is in no list and no total, cannot be got, and no parameter brings it back",
    async run(api) {
      for (const query of ["", "&include_deleted=true", "&deleted=true", "&with_deleted=1"]) {
        const found = page(await api.get(`${list}?page_size=100${query}`));
        assert.equal(found.total, listed.ours.length);
        errorOf(await api.get(`${list}/${patients.deleted.fp}?${query.slice(1)}`), 404, "PATIENT.NOT_FOUND");
      }
      assert.ok(!fps(await walk(api, list, 100)).includes(patients.deleted.fp), "it is listed");
    },
  },
  {
    number: 37,
    title: "an unconnected clinic's patients are in no list and no total",
    async run(api) {
      for (const key of ["ours", "theirs"] as const) {
        assert.equal(page(await api.get(list, key)).total, listed[key].length);
        assert.deepEqual(fps(await walk(api, list, 100, key)), fps(listed[key]));
      }
    },
  },
  {
    number: 38,
    title: "the list takes the key in X-API-Key",
    async run(api) {
      assert.equal((await api.send(list, { headers: { "X-API-Key": api.keys.ours } })).status, 200);
      errorOf(await api.send(list, { headers: { authorization: `Bearer ${api.keys.ours}` } }), 401);
    },
  },
  {
    number: 39,
    title: "the list needs clinic.patient.view",
    run: needs(list, "patient", ["calendar", "inventory", "soap", "lab"]),
  },
  {
    number: 40,
    title: "page is 1 by default and at least 1",
    async run(api) {
      assert.equal(page(await api.get(list)).page, 1);
      assert.equal(page(await api.get(`${list}?page=1`)).page, 1);
      for (const value of ["0", "-1"]) await refuses(api, "page", value);
    },
  },
  {
    number: 41,
    title: "page_size is 20 by default, 1 to 100",
    async run(api) {
      assert.equal(page(await api.get(list)).page_size, 20);
      for (const size of [1, 100]) assert.equal(page(await api.get(`${list}?page_size=${size}`)).items.length, size);
      for (const value of ["0", "101", "-5"]) await refuses(api, "page_size", value);
      for (const [name, value] of [
        ["page_size", "101"],
        ["page", "99999999999999999999"],
      ] as const) {
        const { message, details } = errorOf(await api.get(`${list}?${name}=${value}`), 400);
        assert.match(message, new RegExp(` to ${String(details?.["max"])}\\.$`), `${name}=${value}`);
      }
    },
  },
  {
    number: 42,
    title: "a page that is no plain whole number is refused",
    async run(api) {
      for (const name of ["page", "page_size"]) {
        for (const value of ["abc", "1.5", "", "1e2", "0x10", "%2B1", "01", "%201", "99999999999999999999", "null"]) {
          await refuses(api, name, value);
        }
        errorOf(await api.get(`${list}?${name}=1&${name}=2`), 400, "REQUEST.INVALID_PARAMETER");
      }
    },
  },
  {
    number: 43,
    title: "species=dog returns and counts only dogs",
    run: (api) => lists(api, "?species=dog", (row) => row.species === "dog"),
  },
  {
    number: 44,
    title: "upper case matches nothing, silently",
    async run(api) {
      for (const value of ["DOG", "Dog"]) await lists(api, `?species=${value}`, () => false);
    },
  },
  {
    number: 45,
    title: "an unknown or empty species matches nothing, silently",
    async run(api) {
      for (const value of ["hamster", "", "%20dog", "dog%00"]) await lists(api, `?species=${value}`, () => false);
    },
  },
  {
    number: 46,
    title: "updated_since returns what was updated since",
    run: (api) => lists(api, `?updated_since=${middle}`, (row) => row.updated_at >= middle),
  },
  {
    number: 47,
    title: "updated_since is inclusive",
    async run(api) {
      const newest = listed.ours[0]?.updated_at ?? "";
      const after = new Date(Date.parse(newest) + 1).toISOString();
      await lists(api, `?updated_since=${newest}`, (row) => row.updated_at === newest);
      await lists(api, `?updated_since=${after}`, () => false);
    },
  },
  {
    number: 48,
    title: "updated_since is an instant in any form of RFC 3339, also with an unescaped plus",
    async run(api) {
      for (const value of [
        "2026-04-08",
        "2026-04-08T00:00Z",
        "2026-04-08T00:00:00Z",
        "2026-04-08T00:00:00.000Z",
        "2026-04-08T03:00:00%2B03:00",
        "2026-04-08T03:00:00+03:00",
        "2026-04-07T19:00:00.000-05:00",
        "2026-04-08t00:00:00z",
        "2026-04-08T00:00:00-00:00",
        "2026-04-08T00:00:00.000000000000Z",
        "2026-04-08T00:00:00.0009999999999Z",
      ]) {
        await lists(api, `?updated_since=${value}`, (row) => row.updated_at >= "2026-04-08T00:00:00.000Z");
      }
    },
  },
  {
    number: 49,
    title: "an updated_since that is no timestamp is refused, never all records",
    async run(api) {
      for (const value of ["asfadsfsa", "", "2026-02-30", "2026", "1760000000", "yesterday", "12:00", "2026-13-01"]) {
        await refuses(api, "updated_since", value);
      }
    },
  },
  {
    number: 50,
    title: "an updated_since in the future is an empty page",
    run: (api) => lists(api, "?updated_since=2099-01-01T00:00:00Z", () => false),
  },
  {
    number: 51,
    title: "species and updated_since combine",
    run: (api) =>
      lists(api, `?species=cat&updated_since=${middle}`, (row) => row.species === "cat" && row.updated_at >= middle),
  },
  {
    number: 54,
    title: "a walk meets every match exactly once, for every page_size, also with 10,000 changed at one instant",
    async run(api) {
      for (let size = 1; size <= 100; size += 1) {
        assert.deepEqual(fps(await walk(api, list, size)), fps(listed.ours), `page_size ${size}`);
      }
      for (const size of [100, 97]) {
        assert.deepEqual(fps(await walk(api, list, size, "crowded")), fps(listed.crowded), `page_size ${size}`);
      }
    },
  },
  {
    number: 55,
    title: "newest change first, then by fp, both descending",
    async run(api) {
      assert.deepEqual(fps(page(await api.get(`${list}?page_size=100`)).items), fps(listed.ours.slice(0, 100)));
    },
  },
  {
    number: 56,
    title: "no match and no connection at all are an empty page",
    async run(api) {
      assert.deepEqual(page(await api.get(list, "lonely")), {
        items: [],
        total: 0,
        page: 1,
        page_size: 20,
        has_more: false,
      });
    },
  },
  {
    number: 57,
    title: "clinic_fp changes nothing",
    async run(api) {
      const { text } = await api.get(list);
      assert.equal((await api.get(`${list}?clinic_fp=${clinics.theirs}`)).text, text);
    },
  },
  {
    number: 58,
    title: "unknown parameters are ignored and named in X-Ignored-Parameters",
    async run(api) {
      const { status, headers } = await api.get(`${list}?sort=name&page=1&clinic_fp=x`);
      assert.deepEqual([status, headers.get("x-ignored-parameters")], [200, "sort, clinic_fp"]);
      const used = await api.get(`${list}?page=1&page_size=5&species=dog&updated_since=2026-01-01`);
      assert.equal(used.headers.get("x-ignored-parameters"), null);
    },
  },
  {
    number: 59,
    title: "a connected patient is 200",
    async run(api) {
      for (const row of listed.ours.slice(0, 20)) {
        assert.deepEqual(record(await api.get(`${list}/${row.fp}`)), row);
      }
    },
  },
  {
    number: 60,
    title: "an unknown patient is 404 PATIENT.NOT_FOUND, with its fp",
    async run(api) {
      const fp = fixedFp("patient", 99_999);
      const { message } = errorOf(await api.get(`${list}/${fp}`), 404, "PATIENT.NOT_FOUND");
      assert.ok(message.includes(fp) && message.includes("does not exist"), message);
    },
  },
  {
    number: 61,
    title: "a patient without an active connection is 403 PATIENT.ACCESS_DENIED",
    async run(api) {
      for (const { fp } of [patients.theirs, patients.closed, patients.unconnected]) {
        errorOf(await api.get(`${list}/${fp}`), 403, "PATIENT.ACCESS_DENIED");
      }
    },
  },
  {
    number: 62,
    title: "a malformed fp is 404, repeated short and printable, with the form of an fp; case counts",
    async run(api) {
      for (const fp of [
        "x",
        patients.shared.fp.toLowerCase(),
        patients.shared.fp.toUpperCase(),
        patients.shared.fp.replace("patient_", "soap_"),
        `patient_8${"Z".repeat(25)}`,
        `${patients.shared.fp}%0A`,
        `${patients.shared.fp}'--`,
        "a".repeat(1000),
        "%00%1B%E2%80%AE",
      ]) {
        const { message, details } = errorOf(await api.get(`${list}/${fp}`), 404, "PATIENT.NOT_FOUND");
        assert.match(String(details?.["rule"]), /^patient_.*case-sensitive/);
        assert.ok(message.length < 100 && !/\p{C}/u.test(message), message);
      }
    },
  },
  {
    number: 63,
    title: "getting a patient takes X-API-Key and needs clinic.patient.view",
    async run(api) {
      const path = `${list}/${patients.shared.fp}`;
      errorOf(await api.send(path, { headers: { authorization: `Bearer ${api.keys.ours}` } }), 401);
      await needs(path, "patient", ["calendar", "inventory", "soap", "lab"])(api);
    },
  },
];

/** Those that change what is stored: they run last. */
export const changingPatientChecks: readonly ApiCheck[] = [
  {
    number: 52,
    title: "a patient that is newly connected is in that clinic's next updated_since run",
    async run(api) {
      const { fp } = patients.newcomer;
      const before = page(await api.get(list));
      // Twice: a patient that comes back is new to a client too.
      for (let times = 0; times < 2; times += 1) {
        const since = new Date().toISOString();
        const news = async () => fps(page(await api.get(`${list}?updated_since=${since}`)).items);
        assert.deepEqual(await news(), [], "changed before the connection");
        await api.keeper.import(connection(fp, "ours"));
        assert.deepEqual(await news(), [fp]);
        await api.keeper.import(connection(fp, "ours", false));
      }
      assert.equal(page(await api.get(list)).total, before.total);
    },
  },
  {
    number: 151,
    title:
      "import after a sync, then ask since: what was made, changed or connected is there, however old the file's times are",
    async run(api) {
      const before = page(await api.get(list)).total;
      const [made, changed, connected] = [patient(901), patient(902), patient(903)];
      const line = (row: PatientRow) => ({ type: "patient", ...row });
      await api.keeper.import(...[changed, connected].map(line), connection(changed.fp, "ours"));
      const newest = Date.parse(String(page(await api.get(list)).items[0]?.["updated_at"]));

      const older = { ...changed, species: "cat", updated_at: "2026-01-06T08:00:00.000Z" };
      const connections = [made, connected].map(({ fp }) => connection(fp, "ours"));
      await api.keeper.import(line(made), line(older), ...connections);
      const since = new Date(newest + 1).toISOString();
      const found = await walk(api, `${list}?updated_since=${since}`, 100);
      assert.deepEqual(new Set(fps(found)), new Set([made.fp, changed.fp, connected.fp]));
      assert.equal(found.length, 3);

      await api.keeper.import(...[made, changed, connected].map(({ fp }) => connection(fp, "ours", false)));
      assert.equal(page(await api.get(list)).total, before);
    },
  },
  {
    number: 53,
    title: "a patient that is made keeps its created_at, and is updated then or when the server learnt of it",
    async run(api) {
      const created_at = new Date(api.today).toISOString();
      const made = { ...patients.newcomer, fp: fixedFp("patient", 53), created_at, updated_at: created_at };
      const began = new Date().toISOString();
      await api.keeper.import({ type: "patient", ...made }, connection(made.fp, "ours"));
      const { updated_at, ...others } = record(await api.get(`${list}/${made.fp}`));
      const { updated_at: _told, ...expected } = made;
      assert.deepEqual(others, expected);
      const updated = String(updated_at);
      assert.ok(
        updated === created_at || updated >= began,
        `created ${created_at}, learnt of ${began}, updated ${updated}`,
      );
      await api.keeper.import(connection(made.fp, "ours", false));
    },
  },
];

const middle = "2026-04-08T00:00:00.000Z";

/** The list with a query is exactly the listed patients that match. */
async function lists(api: Api, query: string, matches: (row: PatientRow) => boolean): Promise<void> {
  const expected = listed.ours.filter(matches);
  assert.deepEqual(fps(await walk(api, `${list}${query}`, 100)), fps(expected), query);
  assert.equal(page(await api.get(`${list}${query}`)).total, expected.length, query);
}

async function refuses(api: Api, name: string, value: string): Promise<void> {
  const { details } = errorOf(await api.get(`${list}?${name}=${value}`), 400, "REQUEST.INVALID_PARAMETER");
  assert.equal(details?.["parameter"], name, `${name}=${value}`);
}

/** One key opens the path, the others do not. */
export function needs(path: string, opener: KeyName, others: readonly KeyName[]) {
  const openedBy = endpoints.find((endpoint) => endpoint.path === path)?.openedBy ?? [];
  return async (api: Api) => {
    assert.equal((await api.get(path, opener)).status, 200, opener);
    for (const key of others) isForbidden(await api.get(path, key), openedBy);
  };
}
