import assert from "node:assert/strict";
import { assertShape } from "./check.ts";
import { calendarLine, clinics, connection, fixedFp, items, listed, patient, patients, studies } from "./data.ts";
import { endpoints } from "./endpoints.ts";
import { push, pushedStudy } from "./medical.ts";
import { type ApiCheck, errorOf, events, fps, type JsonObject, page, record } from "./read.ts";
import type { Api, ApiResponse, KeyName } from "./server.ts";
import * as shapes from "./shapes.ts";

// Clients that keep a copy of the lists, and requests that two clinics or two clocks tell apart.

const patientList = "/api/v1/patients";
const studyList = "/api/v1/lab/diagnostics";
const changeList = "/api/v1/changes";
const calendar = "/api/v1/calendar/events";

/** Offsets of both signs, also of three quarters of an hour. */
const offsets = ["+05:45", "-09:30", "+14:00", "-00:15", "+1245", "-0330"] as const;

export const syncChecks: readonly ApiCheck[] = [
  {
    number: 157,
    title: "a walk by the Link header has each record once, in the order of the list, for any page_size",
    async run(api) {
      for (const size of [1, 7, 60, 100])
        assert.deepEqual(fps(await follow(api, `${patientList}?page_size=${size}`)), fps(listed.ours), `size ${size}`);
      const cats = listed.ours.filter(({ species }) => species === "cat");
      assert.deepEqual(fps(await follow(api, `${patientList}?species=cat&page_size=3`)), fps(cats));
      assert.deepEqual(fps(await follow(api, "/api/v1/inventory?page_size=9")), fps(items));
      const all = page(await api.get(`${studyList}?page_size=100`)).items;
      assert.deepEqual(fps(await follow(api, `${studyList}?page_size=2`)), fps(all));
      const crowd = await follow(api, `${patientList}?page_size=100`, "crowded");
      assert.deepEqual(fps(crowd), fps(listed.crowded));
    },
  },
  {
    number: 158,
    title: "an after that no Link header has, of another list, or beside page gets 400",
    async run(api) {
      const next = nextOf(await api.get(`${patientList}?page_size=1`)) ?? "";
      const after = new URL(next, api.url).searchParams.get("after") ?? "";
      for (const path of [
        `${patientList}?after=x`,
        `${patientList}?after=`,
        `${patientList}?after=${after}&page=1`,
        `${patientList}?after=${after}&after=${after}`,
        `${studyList}?after=${after}`,
        `/api/v1/inventory?after=${after}`,
        `${changeList}?after=${after}`,
        `${changeList}?after=yesterday`,
      ])
        errorOf(await api.get(path), 400, "REQUEST.INVALID_PARAMETER");
    },
  },
  {
    number: 159,
    title: "the same URL with the keys of two clinics in turn gives each its own response, also from a cache",
    async run(api) {
      const paths = [
        ...endpoints.map(({ path }) => path),
        `${patientList}?page_size=5`,
        `${patientList}?updated_since=2026-01-01`,
        `${patientList}/${patients.theirs.fp}`,
        `${studyList}/${studies.ofTheirs.fp}`,
        `${changeList}?after=2026-01-01`,
      ];
      for (const path of paths) {
        const first = new Map<KeyName, ApiResponse>();
        for (let turn = 0; turn < 3; turn += 1) {
          for (const key of ["ours", "theirs", "lonely"] as const) {
            const response = await api.get(path, key);
            const { status, text } = first.get(key) ?? response;
            first.set(key, first.get(key) ?? response);
            assert.deepEqual([response.status, response.text], [status, text], `${path} with ${key}, turn ${turn}`);
          }
        }
        const [ours, theirs] = [first.get("ours"), first.get("theirs")];
        // A shared record and the catalogue read the same for both. What left is empty for both.
        const isShared = path.includes(patients.shared.fp) || /soap|diagnostics\/|changes|analytes/.test(path);
        if (!isShared) assert.notEqual(ours?.text, theirs?.text, path);
        const etag = String(ours?.headers.get("etag"));
        if (ours?.status === 200 && theirs?.text !== ours.text)
          assert.notEqual((await api.get(path, "theirs", { headers: { "if-none-match": etag } })).status, 304, path);
      }
    },
  },
  {
    number: 160,
    title: "a bound with an offset of either sign selects by the instant",
    async run(api) {
      const studyRows = page(await api.get(`${studyList}?page_size=100`)).items;
      const rows = [
        ...[patients.shared, patients.sparse, listed.ours[0], listed.ours[60]].map((row) => ({
          list: patientList,
          row,
        })),
        { list: studyList, row: studyRows.at(-1) },
      ];
      for (const { list, row } of rows) {
        const at = String((row as JsonObject | undefined)?.["updated_at"]);
        for (const offset of offsets) {
          const local = encodeURIComponent(withOffset(Date.parse(at), offset));
          const [given, expected] = [
            await api.get(`${list}?updated_since=${local}`),
            await api.get(`${list}?updated_since=${at}`),
          ];
          assert.deepEqual(page(given), page(expected), `${offset} of ${at}`);
        }
      }
    },
  },
  {
    number: 161,
    title: "text that is not well formed in a path or a parameter gets an error of the client or finds nothing",
    async run(api) {
      // A half surrogate pair, an overlong form, a lone continuation byte and a cut sequence in UTF-8.
      for (const bytes of ["%ED%A0%80", "%ED%BF%BF", "%C0%AF", "%80", "%F0%9F", "%FF"]) {
        for (const path of [
          `${patientList}/${bytes}`,
          `${patientList}/patient_${bytes}`,
          `/api/v1/soap/${bytes}`,
          `${studyList}/${bytes}`,
          `${patientList}?species=${bytes}`,
          `${patientList}?updated_since=${bytes}`,
          `${patientList}?after=${bytes}`,
          `${studyList}?patient_fp=${bytes}`,
          `${calendar}?type=${bytes}`,
          `/api/v1/inventory?category=${bytes}`,
          `${changeList}?after=${bytes}`,
        ]) {
          const response = await api.get(path);
          if (response.status === 200) assert.equal(page(response).total, 0, path);
          else assert.ok(errorOf(response, response.status) && response.status < 500, `${path} got ${response.status}`);
        }
      }
    },
  },
];

type CursorKind = "the time of its poll" | "the newest updated_at" | "the Sync-Cursor, page by page";

export const changingSyncChecks: readonly ApiCheck[] = [
  ...(["the time of its poll", "the newest updated_at", "the Sync-Cursor, page by page"] as const).map(
    (kind, index) => ({
      number: 162 + index,
      title: `a client that keeps ${kind} has a copy that equals the lists after imports and pushes`,
      run: async (api: Api) => copiesUnderChanges(api, kind, 1000 * (index + 1)),
    }),
  ),
  {
    number: 165,
    title: "what left the lists is named with its time alone, to the clinics that read it, until it returns",
    async run(api) {
      const { fp } = patients.changing;
      const cursor = cursorOf(await api.get(changeList));
      const left = async (key: KeyName = "ours") => follow(api, `${changeList}?after=${cursor}`, key);
      assert.deepEqual(await left(), []);
      const pushed = pushedStudy({ patient_fp: fp });
      await push(api, pushed);
      await api.operator.import(connection(fp, "ours", false));
      const rows = await left();
      for (const row of rows) assertShape(row, shapes.removed, "the removed record");
      assert.deepEqual(new Set(fps(rows)), new Set([fp, pushed.fp, studies.ofChanging.fp]));
      assert.deepEqual(new Set(fps(await left("lab"))), new Set([pushed.fp, studies.ofChanging.fp]));
      assert.deepEqual(await left("theirs"), []);
      await api.operator.import(connection(fp, "ours"));
      assert.deepEqual(await left(), []);
    },
  },
  {
    number: 166,
    title: "events at odd hours are selected by the instant, whatever the offset of the bounds",
    async run(api) {
      const day = 60 * 86_400_000;
      const starts = [3.25, 9.5, 14.75, 21.1].map((hours) => api.today + day + hours * 3_600_000);
      const rows = starts.map((start, index) => ({
        fp: fixedFp("calevt", 900 + index),
        title: `Odd hour ${index}`,
        type: "CHECKUP",
        status: "SCHEDULED",
        start_at: new Date(start).toISOString(),
        end_at: new Date(start + 1).toISOString(),
        patient_fp: null,
        assigned_user_fp: null,
      }));
      await api.operator.import(...rows.map((row) => calendarLine(row, clinics.ours)));
      for (const offset of offsets) {
        for (const [index, start] of starts.entries()) {
          const bounds = [start, start + 1].map((time) => encodeURIComponent(withOffset(time, offset)));
          const found = events(await api.get(`${calendar}?start_date=${bounds[0]}&end_date=${bounds[1]}`));
          assert.deepEqual(fps(found), [rows[index]?.fp], `${offset} at ${start}`);
        }
      }
    },
  },
  {
    number: 167,
    title: "a record whose import has text that is not well formed is refused or mended, and hides no other record",
    async run(api) {
      const before = page(await api.get(patientList)).total;
      const odd = patient(950, { name: "Half \ud83d pair" });
      const even = patient(951);
      const texts = [studies.full, { ...studies.full, device_name: "Half \udc00 pair" }];
      const made = texts.map((text, index) => ({ ...text, fp: fixedFp("cds", 950 + index), patient_fp: even.fp }));
      const lines = [odd, even].flatMap((row) => [{ type: "patient", ...row }, connection(row.fp, "ours")]);
      const studiesBefore = page(await api.get(studyList)).total;
      const isTaken = await api.operator.import(...lines, ...made.map((row) => ({ type: "study", ...row }))).then(
        () => true,
        () => false,
      );
      const counts = [
        await follow(api, `${patientList}?page_size=100`),
        await follow(api, `${studyList}?page_size=100`),
      ];
      const added = isTaken ? 2 : 0;
      assert.deepEqual(
        counts.map(({ length }) => length),
        [before + added, studiesBefore + added],
      );
      if (!isTaken) return;
      for (const path of [`${patientList}/${odd.fp}`, ...made.map(({ fp }) => `${studyList}/${fp}`)])
        assert.doesNotMatch(JSON.stringify(record(await api.get(path))), /\p{Cs}|\\ud[89a-f]/u, path);
      await api.operator.import(...[odd, even].map(({ fp }) => connection(fp, "ours", false)));
    },
  },
];

/** Reads a list by its Link headers. */
async function follow(api: Api, path: string, key: KeyName = "ours"): Promise<JsonObject[]> {
  return (await walk(api, path, key)).rows;
}

async function walk(api: Api, path: string, key: KeyName = "ours") {
  const rows: JsonObject[] = [];
  let cursor = "";
  for (let next: string | null = path; next !== null; ) {
    const response: ApiResponse = await api.get(next, key);
    const part = page(response);
    rows.push(...part.items);
    next = nextOf(response);
    assert.equal(part.has_more, next !== null, `has_more of ${path}`);
    cursor = response.headers.get("sync-cursor") ?? "";
  }
  return { rows, cursor };
}

function nextOf(response: ApiResponse): string | null {
  return /^<([^>]+)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1] ?? null;
}

function cursorOf(response: ApiResponse): string {
  const cursor = response.headers.get("sync-cursor");
  assert.ok(shapes.timestamp(cursor), `Sync-Cursor is ${cursor}, expected a timestamp`);
  return String(cursor);
}

/** The instant as the local time of an offset. */
function withOffset(instant: number, offset: string): string {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)$/.exec(offset) ?? [];
  const shift = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === "-" ? -1 : 1);
  return new Date(instant + shift).toISOString().replace("Z", offset);
}

/** Polls while another process imports and agents push, then compares the copy with the lists. */
async function copiesUnderChanges(api: Api, kind: CursorKind, numbers: number): Promise<void> {
  const copy = new Map<unknown, string>();
  const cursors = new Map<string, string>();

  async function poll(list: string, sinceName: string): Promise<JsonObject[]> {
    const asked = new Date().toISOString();
    const since = cursors.get(list);
    const query = since === undefined ? "" : `&${sinceName}=${encodeURIComponent(since)}`;
    const { rows, cursor } = await walk(api, `${list}?page_size=30${query}`);
    const newest =
      rows
        .map((row) => String(row["updated_at"]))
        .toSorted()
        .at(-1) ?? since;
    const next = {
      "the time of its poll": asked,
      "the newest updated_at": list === changeList ? cursor : newest,
      "the Sync-Cursor, page by page": cursor,
    }[kind];
    if (next !== undefined) cursors.set(list, next);
    return rows;
  }
  async function sync(): Promise<void> {
    for (const list of [patientList, studyList])
      for (const row of await poll(list, "updated_since")) copy.set(row["fp"], JSON.stringify(row));
    for (const { fp } of await poll(changeList, "after")) copy.delete(fp);
  }

  await sync();
  const made = Array.from({ length: 40 }, (_, index) => patient(numbers + index));
  let isWriting = true;
  async function write(): Promise<void> {
    await api.operator.import(...made.flatMap((row) => [{ type: "patient", ...row }, connection(row.fp, "ours")]));
    await api.operator.import(
      ...made.map((row, index) => ({
        type: "patient",
        ...row,
        name: "Renamed",
        ...(index % 4 === 0 && { deleted_at: row.updated_at }),
      })),
      ...made.filter((_, index) => index % 4 === 1).map(({ fp }) => connection(fp, "ours", false)),
    );
    isWriting = false;
  }
  async function pushSome(): Promise<void> {
    while (isWriting) {
      const pushed = pushedStudy({ results: [] });
      await push(api, pushed);
      await push(api, { ...pushed, revision: 2, device_name: "Corrected" });
    }
  }
  async function pollOn(): Promise<void> {
    while (isWriting) await sync();
  }
  const writing = write().finally(() => (isWriting = false));
  await Promise.all([writing, pushSome(), pollOn()]);
  await sync();
  const truth = new Map<unknown, string>();
  for (const list of [patientList, studyList])
    for (const row of await follow(api, `${list}?page_size=100`)) truth.set(row["fp"], JSON.stringify(row));
  assert.deepEqual(copy, truth);
  await api.operator.import(...made.map(({ fp }) => connection(fp, "ours", false)));
}
