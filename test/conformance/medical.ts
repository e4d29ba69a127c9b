import assert from "node:assert/strict";
import { newFp } from "../../shared/api/fp.ts";
import { assertShape } from "./check.ts";
import { fixedFp, patients, soaps, studies, studyOfEachModality } from "./data.ts";
import { needs } from "./patients.ts";
import { type ApiCheck, body, errorOf, fps, type JsonObject, page, record, walk } from "./read.ts";
import { type Api, authorization } from "./server.ts";
import * as shapes from "./shapes.ts";

// SOAP records and diagnostic studies.

const soapPath = "/api/v1/soap";
const labPath = "/api/v1/lab/diagnostics";

export const medicalChecks: readonly ApiCheck[] = [
  {
    number: 64,
    title: "a SOAP record has exactly its eleven fields, with the stored values",
    async run(api) {
      for (const row of [soaps.draft, soaps.inProgress, soaps.signed, soaps.locked, soaps.amendment, soaps.byTheirs]) {
        const found = record(await api.get(`${soapPath}/${row.fp}`));
        assertShape(found, shapes.soap, "the SOAP record");
        assert.deepEqual(found, row);
      }
    },
  },
  {
    number: 65,
    title: "soap_type is EXAMINATION",
    async run(api) {
      assert.equal(record(await api.get(`${soapPath}/${soaps.signed.fp}`))["soap_type"], "EXAMINATION");
    },
  },
  {
    number: 66,
    title: "the status of a SOAP record is DRAFT, IN_PROGRESS, SIGNED or LOCKED",
    async run(api) {
      const statuses = [];
      for (const { fp } of [soaps.draft, soaps.inProgress, soaps.signed, soaps.locked]) {
        statuses.push(record(await api.get(`${soapPath}/${fp}`))["status"]);
      }
      assert.deepEqual(statuses, ["DRAFT", "IN_PROGRESS", "SIGNED", "LOCKED"]);
    },
  },
  {
    number: 67,
    title: "the plan is free text, without plan items",
    async run(api) {
      const found = record(await api.get(`${soapPath}/${soaps.signed.fp}`));
      assert.equal(found["plan"], soaps.signed.plan);
      assert.equal("plan_items" in found, false, "plan_items is there");
    },
  },
  { number: 68, title: "SOAP records take Authorization: Bearer", run: takesBearer(`${soapPath}/${soaps.signed.fp}`) },
  {
    number: 69,
    title: "a SOAP record is visible to every connected clinic, whichever clinic performed it",
    async run(api) {
      for (const { fp } of [soaps.signed, soaps.byTheirs, soaps.draft]) {
        const { text } = await api.get(`${soapPath}/${fp}`, "ours");
        assert.equal((await api.get(`${soapPath}/${fp}`, "theirs")).text, text);
      }
    },
  },
  {
    number: 70,
    title: "a SOAP record without a connection gets 403 PATIENT.ACCESS_DENIED, also for the clinic that performed it",
    async run(api) {
      for (const { fp } of [soaps.ofTheirs, soaps.ofClosed]) {
        errorOf(await api.get(`${soapPath}/${fp}`), 403, "PATIENT.ACCESS_DENIED");
      }
      errorOf(await api.get(`${soapPath}/${soaps.signed.fp}`, "lonely"), 403, "PATIENT.ACCESS_DENIED");
    },
  },
  {
    number: 71,
    title: "an unknown SOAP record gets 404 PATIENT.NOT_FOUND with its fp",
    run: unknown(soapPath, "soap"),
  },
  {
    number: 72,
    title: "signed_at is null until SIGNED, and set from then on",
    async run(api) {
      for (const { fp, status } of Object.values(soaps).slice(0, 6)) {
        const found = record(await api.get(`${soapPath}/${fp}`));
        assert.equal(found["signed_at"] === null, ["DRAFT", "IN_PROGRESS"].includes(status), status);
      }
    },
  },
  {
    number: 74,
    title: "the Bearer scheme is case-insensitive; another scheme, two spaces or no token get 401",
    async run(api) {
      const key = api.keys.ours;
      for (const path of [`${soapPath}/${soaps.signed.fp}`, `${labPath}/${studies.full.fp}`]) {
        const send = async (value: string) => api.send(path, { headers: { authorization: value } });
        for (const scheme of ["Bearer", "bearer", "BEARER"]) assert.equal((await send(`${scheme} ${key}`)).status, 200);
        for (const value of [`Basic ${key}`, `Bearer  ${key}`, "Bearer", key, `Token ${key}`, `Bearer ${key} x`]) {
          errorOf(await send(value), 401, "AUTH.UNAUTHORIZED");
        }
      }
    },
  },
  {
    number: 75,
    title: "a SOAP record of a deleted patient gets 404",
    async run(api) {
      errorOf(await api.get(`${soapPath}/${soaps.ofDeleted.fp}`), 404, "PATIENT.NOT_FOUND");
    },
  },
  {
    number: 76,
    title: "a study has exactly its seven fields, with the stored values",
    async run(api) {
      for (const row of [studies.full, studies.bare, studies.imaging, studies.cat, ...studyOfEachModality]) {
        const found = record(await api.get(`${labPath}/${row.fp}`));
        assertShape(found, shapes.study, "the study");
        assert.deepEqual(found, row);
      }
    },
  },
  {
    number: 77,
    title: "modality is one of the six",
    async run(api) {
      const found = [];
      for (const { fp } of studyOfEachModality) found.push(record(await api.get(`${labPath}/${fp}`))["modality"]);
      assert.deepEqual(found, shapes.modalities);
    },
  },
  {
    number: 78,
    title: "the status of a study is COMPLETED",
    async run(api) {
      assert.equal(record(await api.get(`${labPath}/${studies.full.fp}`))["status"], "COMPLETED");
    },
  },
  {
    number: 79,
    title: "results are an array, empty for imaging",
    async run(api) {
      assert.deepEqual(record(await api.get(`${labPath}/${studies.imaging.fp}`))["results"], []);
    },
  },
  {
    number: 80,
    title: "a result has analyte, value, unit, reference_range and flag",
    async run(api) {
      for (const { comparator: _comparator, value_text: _text, ...entry } of await results(api)) {
        assertShape(entry, shapes.result, "the entry");
      }
    },
  },
  {
    number: 81,
    title: "flag is normal, low, high or critical",
    async run(api) {
      const flags = (record(await api.get(`${labPath}/${studies.full.fp}`))["results"] as JsonObject[]).map(
        (row) => row["flag"],
      );
      assert.deepEqual(flags, ["normal", "low", "high", "critical"]);
    },
  },
  {
    number: 82,
    title: "reference_range is the lower bound, an ASCII hyphen and the upper bound, with their decimals",
    async run(api) {
      const ranges = (await results(api)).map((row) => row["reference_range"]);
      assert.deepEqual(new Set(ranges), new Set(["-4.0--1.0", "3.3-6.1", "4.1-8.2", null]));
    },
  },
  {
    number: 84,
    title: "equal values of a dog and a cat have their own flags and ranges",
    async run(api) {
      for (const row of [studies.dog, studies.cat]) {
        assert.deepEqual(record(await api.get(`${labPath}/${row.fp}`))["results"], row.results);
      }
    },
  },
  {
    number: 152,
    title:
      "a word is value null with value_text, a device's own code has code_source and no range, a doubt is a comment",
    async run(api) {
      assert.deepEqual(record(await api.get(`${labPath}/${studies.device.fp}`))["results"], studies.device.results);
    },
  },
  {
    number: 85,
    title: "a value on a bound is normal, and a value beyond a critical limit is critical",
    shownIn: "test/shared/clinical/flag.test.ts",
  },
  { number: 86, title: "studies take Authorization: Bearer", run: takesBearer(`${labPath}/${studies.full.fp}`) },
  {
    number: 87,
    title: "connected clinics read the same study",
    async run(api) {
      const path = `${labPath}/${studies.full.fp}`;
      assert.equal((await api.get(path, "theirs")).text, (await api.get(path)).text);
      await needs(path, "lab", ["calendar", "inventory", "soap"])(api);
    },
  },
  {
    number: 88,
    title: "a study without a connection gets 403 PATIENT.ACCESS_DENIED",
    async run(api) {
      for (const { fp } of [studies.ofTheirs, studies.ofClosed]) {
        errorOf(await api.get(`${labPath}/${fp}`), 403, "PATIENT.ACCESS_DENIED");
      }
    },
  },
  {
    number: 153,
    title: "the study list has the studies of the clinic's patients, each with updated_at, the last updated first",
    async run(api) {
      const found = await walk(api, labPath, 100);
      for (const row of found) assertShape(row, shapes.listedStudy, "the listed study");
      const contents = found.map(({ updated_at: _at, ...content }) => content);
      assert.deepEqual(byFp(contents), byFp([...Object.values(studies), ...studyOfEachModality].filter(isListed)));
      const times = found.map((row) => String(row["updated_at"]));
      assert.deepEqual(times, times.toSorted().toReversed());
      for (const size of [1, 7]) assert.deepEqual(await walk(api, labPath, size), found, `pages of ${size}`);
    },
  },
  {
    number: 154,
    title:
      "patient_fp lists the studies of one patient, none of a patient without a connection, and is 400 if malformed",
    async run(api) {
      const { patient_fp } = studies.full;
      const all = await walk(api, labPath, 100);
      const expected = all.filter((row) => row["patient_fp"] === patient_fp);
      assert.deepEqual(await walk(api, `${labPath}?patient_fp=${patient_fp}`, 2), expected);
      for (const { patient_fp: foreign } of [studies.ofTheirs, studies.ofClosed, studies.ofDeleted]) {
        assert.equal(page(await api.get(`${labPath}?patient_fp=${foreign}`)).total, 0);
      }
      errorOf(await api.get(`${labPath}?patient_fp=x`), 400, "REQUEST.INVALID_PARAMETER");
    },
  },
  {
    number: 155,
    title: "updated_since of the study list is inclusive, an invalid one gets 400, and one in the future an empty page",
    async run(api) {
      const all = await walk(api, labPath, 100);
      for (const since of new Set(all.map((row) => String(row["updated_at"])))) {
        const expected = all.filter((row) => String(row["updated_at"]) >= since);
        assert.deepEqual(await walk(api, `${labPath}?updated_since=${since}`, 100), expected);
      }
      errorOf(await api.get(`${labPath}?updated_since=yesterday`), 400, "REQUEST.INVALID_PARAMETER");
      assert.equal(page(await api.get(`${labPath}?updated_since=2999-01-01`)).total, 0);
    },
  },
  { number: 89, title: "an unknown study gets 404 PATIENT.NOT_FOUND with its fp", run: unknown(labPath, "cds") },
];

export const changingMedicalChecks: readonly ApiCheck[] = [
  {
    number: 73,
    title: "a SIGNED record never changes, no status is skipped, and an amendment is a new record",
    async run(api) {
      const { operator } = api;
      const line = (row: object, changes: object) => ({ type: "soap", amends_fp: null, ...row, ...changes });
      for (const refused of [
        line(soaps.signed, { plan: "Another plan" }),
        line(soaps.signed, { status: "IN_PROGRESS", signed_at: null }),
        line(soaps.locked, { assessment: null }),
        line(soaps.locked, { status: "SIGNED" }),
        line(soaps.draft, { status: "SIGNED", signed_at: "2026-03-02T10:00:00.000Z" }),
        line(soaps.inProgress, { status: "DRAFT" }),
      ]) {
        await assert.rejects(operator.import(refused), JSON.stringify(refused));
      }
      await operator.import(line(soaps.signed, {}));
      for (const row of [soaps.signed, soaps.locked, soaps.draft, soaps.inProgress]) {
        assert.deepEqual(record(await api.get(`${soapPath}/${row.fp}`)), row);
      }
      const fp = newFp("soap");
      await operator.import(line(soaps.signed, { fp, plan: "Amended.", amends_fp: soaps.signed.fp }));
      assert.equal(record(await api.get(`${soapPath}/${fp}`))["plan"], "Amended.");
    },
  },
  {
    number: 83,
    title: "a later change of species or weight changes no stored flag or range",
    async run(api) {
      const path = `${labPath}/${studies.ofChanging.fp}`;
      const before = (await api.get(path)).text;
      await api.operator.import({ type: "patient", ...patients.changing, species: "bird", weight_kg: 0.4 });
      const changed = record(await api.get(`/api/v1/patients/${patients.changing.fp}`));
      assert.deepEqual([changed["species"], changed["weight_kg"]], ["bird", 0.4]);
      assert.equal((await api.get(path)).text, before);
    },
  },
  {
    number: 90,
    title: "a pushed and an imported study have the same shape",
    async run(api) {
      const pushed = pushedStudy();
      await push(api, pushed);
      const [a, b] = [await api.get(`${labPath}/${pushed.fp}`), await api.get(`${labPath}/${studies.full.fp}`)];
      assert.deepEqual(Object.keys(body(a)), Object.keys(body(b)));
      assert.deepEqual(Object.keys(record(a)), Object.keys(record(b)));
    },
  },
  {
    number: 91,
    title: "a pushed study is readable by the same fp once it is acknowledged",
    async run(api) {
      const pushed = pushedStudy();
      assert.equal((await push(api, pushed))["outcome"], "filed");
      const { revision: _r, dedupe_key: _d, source: _s, patient_hint: _h, ...study } = pushed;
      assert.deepEqual(record(await api.get(`${labPath}/${pushed.fp}`)), study);
    },
  },
  {
    number: 92,
    title: "an unmatched study is not readable",
    async run(api) {
      for (const patient_fp of [null, patients.theirs.fp, fixedFp("patient", 99_999)]) {
        const pushed = pushedStudy({ patient_fp });
        assert.equal((await push(api, pushed))["outcome"], "unmatched");
        errorOf(await api.get(`${labPath}/${pushed.fp}`), 404, "PATIENT.NOT_FOUND");
      }
    },
  },
  {
    number: 156,
    title:
      "a filed study, and then its revision, is the first of the next updated_since run; an unmatched one is not listed",
    async run(api) {
      const newest = async (since = "") =>
        page(await api.get(`${labPath}?updated_since=${since}&page_size=1`)).items[0];
      const before = String((await newest("2000-01-01"))?.["updated_at"]);
      const unmatched = pushedStudy({ patient_fp: null });
      const filed = pushedStudy();
      await push(api, unmatched);
      await push(api, filed);
      assert.equal((await newest(before))?.["fp"], filed.fp);
      await push(api, pushedStudy());
      await push(api, { ...filed, revision: 2, device_name: "Corrected" });
      const revised = await newest(before);
      assert.deepEqual([revised?.["fp"], revised?.["device_name"]], [filed.fp, "Corrected"]);
      const all = await walk(api, `${labPath}?updated_since=${before}`, 100);
      assert.ok(!fps(all).includes(unmatched.fp), "expected the list without the unmatched study");
    },
  },
  {
    number: 93,
    title: "a study that is sent again makes no second one, even under a new fp",
    async run(api) {
      const pushed = pushedStudy();
      await push(api, pushed);
      assert.equal((await push(api, pushed))["outcome"], "unchanged");
      const again = { ...pushed, fp: newFp("cds") };
      const { outcome, existing_fp } = await push(api, again);
      assert.deepEqual([outcome, existing_fp], ["unchanged", pushed.fp]);
      errorOf(await api.get(`${labPath}/${again.fp}`), 404, "PATIENT.NOT_FOUND");
    },
  },
];

const notListed = new Set([studies.ofTheirs, studies.ofClosed, studies.ofDeleted].map(({ fp }) => fp));

function isListed({ fp }: { fp: string }): boolean {
  return !notListed.has(fp);
}

function byFp<Row extends { readonly fp?: unknown }>(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => (String(a.fp) < String(b.fp) ? -1 : 1));
}

function takesBearer(path: string) {
  return async (api: Api) => {
    assert.equal((await api.send(path, { headers: { Authorization: `Bearer ${api.keys.ours}` } })).status, 200);
    errorOf(await api.send(path, { headers: { "X-API-Key": api.keys.ours } }), 401, "AUTH.UNAUTHORIZED");
  };
}

function unknown(path: string, kind: "soap" | "cds") {
  return async (api: Api) => {
    for (const fp of [fixedFp(kind, 99_999), "x", patients.shared.fp, `${kind}_8${"Z".repeat(25)}`]) {
      const { message } = errorOf(await api.get(`${path}/${fp}`), 404, "PATIENT.NOT_FOUND");
      assert.ok(message.includes(fp) && message.includes("does not exist"), message);
    }
  };
}

async function results(api: Api): Promise<JsonObject[]> {
  const rows: JsonObject[] = [];
  for (const { fp } of [studies.full, studies.bare, studies.imaging, studies.dog, studies.cat]) {
    rows.push(...(record(await api.get(`${labPath}/${fp}`))["results"] as JsonObject[]));
  }
  return rows;
}

export function pushedStudy(changes: object = {}) {
  return {
    ...studies.full,
    fp: newFp("cds"),
    patient_fp: patients.shared.fp as string | null,
    revision: 1,
    dedupe_key: newFp("cds"),
    source: { device_id: "chem-1", message_id: "1" },
    patient_hint: {
      identifier: null,
      name: null,
      species: null,
      breed: null,
      sex: null,
      owner: null,
      date_of_birth: null,
      weight_kg: null,
    },
    ...changes,
  };
}

export async function push(api: Api, study: object): Promise<JsonObject> {
  const path = "/agent/v1/studies";
  const response = await api.send(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...authorization(path, api.keys.agent) },
    body: JSON.stringify({ studies: [study] }),
  });
  return (body(response)["outcomes"] as JsonObject[])[0] ?? {};
}
