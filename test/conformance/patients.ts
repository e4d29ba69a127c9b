import assert from "node:assert/strict";
import { isForbidden } from "./access.ts";
import { assertShape } from "./check.ts";
import { clinics, connection, fixedFp, listed, patient, type PatientRow, patients } from "./data.ts";
import { endpoints } from "./endpoints.ts";
import { type ApiCheck, errorOf, fps, page, record, walk } from "./read.ts";
import type { Api, KeyName } from "./server.ts";
import * as shapes from "./shapes.ts";

// The patient list and single patients.

const list = "/api/v1/patients";
const species = ["dog", "cat", "rabbit", "bird", "reptile", "exotic"] as const;

export const patientChecks: readonly ApiCheck[] = [
  {
    number: 31,
    title: "a patient has exactly its ten fields, with the stored values",
    async run(api) {
      const found = record(await api.get(`${list}/${patients.shared.fp}`));
      assertShape(found, shapes.patient, "the patient");
      assert.deepEqual(found, patients.shared);
      assert.deepEqual(await walk(api, list, 100), listed.ours);
    },
  },
  {
    number: 32,
    title: "species is lower case, and filters by each of its six values",
    async run(api) {
      for (const name of species) await lists(api, `?species=${name}`, (row) => row.species === name);
    },
  },
  {
    number: 33,
    title: "a patient shared with another clinic is listed and readable",
    async run(api) {
      assert.ok(fps(await walk(api, list, 100)).includes(patients.shared.fp), "expected the patient in the list");
      assert.equal((await api.get(`${list}/${patients.shared.fp}`)).status, 200);
    },
  },
  {
    number: 34,
    title: "a patient whose connection ended is neither listed nor readable",
    async run(api) {
      assert.ok(!fps(await walk(api, list, 100)).includes(patients.closed.fp), "expected the list without the patient");
      errorOf(await api.get(`${list}/${patients.closed.fp}`), 403, "PATIENT.ACCESS_DENIED");
    },
  },
  {
    number: 35,
    title: "two connected clinics read the same patient",
    async run(api) {
      const path = `${list}/${patients.shared.fp}`;
      assert.equal((await api.get(path, "ours")).text, (await api.get(path, "theirs")).text);
    },
  },
  {
    number: 36,
    title: "a deleted patient is neither listed, counted nor readable, with any parameter",
    async run(api) {
      for (const query of ["", "&include_deleted=true", "&deleted=true", "&with_deleted=1"]) {
        const found = page(await api.get(`${list}?page_size=100${query}`));
        assert.equal(found.total, listed.ours.length);
        errorOf(await api.get(`${list}/${patients.deleted.fp}?${query.slice(1)}`), 404, "PATIENT.NOT_FOUND");
      }
      assert.ok(
        !fps(await walk(api, list, 100)).includes(patients.deleted.fp),
        "expected the list without the patient",
      );
    },
  },
  {
    number: 37,
    title: "patients of unconnected clinics are neither listed nor counted",
    async run(api) {
      for (const key of ["ours", "theirs"] as const) {
        assert.equal(page(await api.get(list, key)).total, listed[key].length);
        assert.deepEqual(fps(await walk(api, list, 100, key)), fps(listed[key]));
      }
    },
  },
  {
    number: 38,
    title: "the patient list takes the key in X-API-Key",
    async run(api) {
      assert.equal((await api.send(list, { headers: { "X-API-Key": api.keys.ours } })).status, 200);
      errorOf(await api.send(list, { headers: { authorization: `Bearer ${api.keys.ours}` } }), 401);
    },
  },
  {
    number: 39,
    title: "the patient list needs clinic.patient.view",
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
    title: "page_size is 20 by default, and 1 to 100",
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
    title: "a page that is not a plain whole number gets 400",
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
    title: "species=dog returns and counts dogs only",
    run: (api) => lists(api, "?species=dog", (row) => row.species === "dog"),
  },
  {
    number: 44,
    title: "a species in upper case matches nothing, without an error",
    async run(api) {
      for (const value of ["DOG", "Dog"]) await lists(api, `?species=${value}`, () => false);
    },
  },
  {
    number: 45,
    title: "an unknown or empty species matches nothing, without an error",
    async run(api) {
      for (const value of ["hamster", "", "%20dog", "dog%00"]) await lists(api, `?species=${value}`, () => false);
    },
  },
  {
    number: 46,
    title: "updated_since selects the patients updated at or after it",
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
    title: "updated_since takes an instant in any form of RFC 3339, also with an unescaped plus",
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
    title: "an invalid updated_since gets 400 instead of all records",
    async run(api) {
      for (const value of ["asfadsfsa", "", "2026-02-30", "2026", "1760000000", "yesterday", "12:00", "2026-13-01"]) {
        await refuses(api, "updated_since", value);
      }
    },
  },
  {
    number: 50,
    title: "an updated_since in the future selects an empty page",
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
    title: "a walk meets every match exactly once for every page_size, also with 10,000 patients of one instant",
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
    title: "patients are sorted by last update, then by fp, both descending",
    async run(api) {
      assert.deepEqual(fps(page(await api.get(`${list}?page_size=100`)).items), fps(listed.ours.slice(0, 100)));
    },
  },
  {
    number: 56,
    title: "a clinic without a match or a connection gets an empty page",
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
    title: "a connected patient is readable",
    async run(api) {
      for (const row of listed.ours.slice(0, 20)) {
        assert.deepEqual(record(await api.get(`${list}/${row.fp}`)), row);
      }
    },
  },
  {
    number: 60,
    title: "an unknown patient gets 404 PATIENT.NOT_FOUND with its fp",
    async run(api) {
      const fp = fixedFp("patient", 99_999);
      const { message } = errorOf(await api.get(`${list}/${fp}`), 404, "PATIENT.NOT_FOUND");
      assert.ok(message.includes(fp) && message.includes("does not exist"), message);
    },
  },
  {
    number: 61,
    title: "a patient without an active connection gets 403 PATIENT.ACCESS_DENIED",
    async run(api) {
      for (const { fp } of [patients.theirs, patients.closed, patients.unconnected]) {
        errorOf(await api.get(`${list}/${fp}`), 403, "PATIENT.ACCESS_DENIED");
      }
    },
  },
  {
    number: 62,
    title: "a malformed fp gets 404 with a short printable copy of it and the form of an fp",
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
    title: "a single patient takes X-API-Key and needs clinic.patient.view",
    async run(api) {
      const path = `${list}/${patients.shared.fp}`;
      errorOf(await api.send(path, { headers: { authorization: `Bearer ${api.keys.ours}` } }), 401);
      await needs(path, "patient", ["calendar", "inventory", "soap", "lab"])(api);
    },
  },
];

/** Checks that change stored patients. */
export const changingPatientChecks: readonly ApiCheck[] = [
  {
    number: 52,
    title: "a newly connected patient is in the clinic's next updated_since run",
    async run(api) {
      const { fp } = patients.newcomer;
      const before = page(await api.get(list));
      // Twice, since a patient whose connection begins again is new to a client too.
      for (let times = 0; times < 2; times += 1) {
        const since = new Date().toISOString();
        const updated = async () => fps(page(await api.get(`${list}?updated_since=${since}`)).items);
        assert.deepEqual(await updated(), [], "patients updated before the connection");
        await api.operator.import(connection(fp, "ours"));
        assert.deepEqual(await updated(), [fp]);
        await api.operator.import(connection(fp, "ours", false));
      }
      assert.equal(page(await api.get(list)).total, before.total);
    },
  },
  {
    number: 151,
    title: "an import after a sync is in the next updated_since run, however old the timestamps of the file are",
    async run(api) {
      const before = page(await api.get(list)).total;
      const [made, changed, connected] = [patient(901), patient(902), patient(903)];
      const line = (row: PatientRow) => ({ type: "patient", ...row });
      await api.operator.import(...[changed, connected].map(line), connection(changed.fp, "ours"));
      const newest = Date.parse(String(page(await api.get(list)).items[0]?.["updated_at"]));

      const older = { ...changed, species: "cat", updated_at: "2026-01-06T08:00:00.000Z" };
      const connections = [made, connected].map(({ fp }) => connection(fp, "ours"));
      await api.operator.import(line(made), line(older), ...connections);
      const since = new Date(newest + 1).toISOString();
      const found = await walk(api, `${list}?updated_since=${since}`, 100);
      assert.deepEqual(new Set(fps(found)), new Set([made.fp, changed.fp, connected.fp]));
      assert.equal(found.length, 3);

      await api.operator.import(...[made, changed, connected].map(({ fp }) => connection(fp, "ours", false)));
      assert.equal(page(await api.get(list)).total, before);
    },
  },
  {
    number: 53,
    title: "a new patient keeps its created_at, and updated_at is that or the moment of the import",
    async run(api) {
      const created_at = new Date(api.today).toISOString();
      const made = { ...patients.newcomer, fp: fixedFp("patient", 53), created_at, updated_at: created_at };
      const began = new Date().toISOString();
      await api.operator.import({ type: "patient", ...made }, connection(made.fp, "ours"));
      const { updated_at, ...others } = record(await api.get(`${list}/${made.fp}`));
      const { updated_at: _updatedAt, ...expected } = made;
      assert.deepEqual(others, expected);
      const updated = String(updated_at);
      assert.ok(
        updated === created_at || updated >= began,
        `updated_at is ${updated}, expected ${created_at} or at least ${began}`,
      );
      await api.operator.import(connection(made.fp, "ours", false));
    },
  },
];

const middle = "2026-04-08T00:00:00.000Z";

/** Asserts that the list with a query has exactly the listed patients that match. */
async function lists(api: Api, query: string, matches: (row: PatientRow) => boolean): Promise<void> {
  const expected = listed.ours.filter(matches);
  assert.deepEqual(fps(await walk(api, `${list}${query}`, 100)), fps(expected), query);
  assert.equal(page(await api.get(`${list}${query}`)).total, expected.length, query);
}

async function refuses(api: Api, name: string, value: string): Promise<void> {
  const { details } = errorOf(await api.get(`${list}?${name}=${value}`), 400, "REQUEST.INVALID_PARAMETER");
  assert.equal(details?.["parameter"], name, `${name}=${value}`);
}

/** Asserts that one key opens the path and the others do not. */
export function needs(path: string, opener: KeyName, others: readonly KeyName[]) {
  const openedBy = endpoints.find((endpoint) => endpoint.path === path)?.openedBy ?? [];
  return async (api: Api) => {
    assert.equal((await api.get(path, opener)).status, 200, opener);
    for (const key of others) isForbidden(await api.get(path, key), openedBy);
  };
}
