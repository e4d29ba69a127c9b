import assert from "node:assert/strict";
import { assertShape } from "./check.ts";
import { fixedFp, listed, patients, soaps, studies } from "./data.ts";
import { endpoints } from "./endpoints.ts";
import { refusal } from "./limit-windows.ts";
import { type ApiCheck, body, errorOf, events, page, record } from "./read.ts";
import type { Api } from "./server.ts";
import * as shapes from "./shapes.ts";

// Protocol and envelope; fps, times and numbers.

export const protocolChecks: readonly ApiCheck[] = [
  {
    number: 1,
    title: "every documented endpoint responds to GET",
    async run(api) {
      for (const { path } of endpoints) assert.equal((await api.get(path)).status, 200, path);
    },
  },
  {
    number: 2,
    title: "a success is 200 with application/json; charset=utf-8",
    async run(api) {
      for (const { path } of endpoints) {
        const { status, headers } = await api.get(path);
        assert.deepEqual([status, headers.get("content-type")], [200, "application/json; charset=utf-8"], path);
      }
    },
  },
  {
    number: 3,
    title: "a single patient has success, data and the message OK",
    async run(api) {
      const response = body(await api.get(`/api/v1/patients/${patients.shared.fp}`));
      assert.deepEqual(Object.keys(response).toSorted(), ["data", "message", "success"]);
      assert.deepEqual([response["success"], response["message"]], [true, "OK"]);
    },
  },
  {
    number: 4,
    title: "a patient list has success, data and a message",
    run: keys("/api/v1/patients", "data message success"),
  },
  {
    number: 5,
    title: "a SOAP record has success and data, and no message",
    run: keys(`/api/v1/soap/${soaps.signed.fp}`, "data success"),
  },
  {
    number: 6,
    title: "a diagnostic study has success and data, and no message",
    run: keys(`/api/v1/lab/diagnostics/${studies.full.fp}`, "data success"),
  },
  {
    number: 7,
    title: "an inventory list has success and data, and no message",
    run: keys("/api/v1/inventory", "data success"),
  },
  {
    number: 8,
    title: "calendar events are a bare array, which may be empty",
    async run(api) {
      assert.notDeepEqual(events(await api.get("/api/v1/calendar/events")), []);
      assert.equal((await api.get("/api/v1/calendar/events", "lonely")).text, "[]");
    },
  },
  {
    number: 9,
    title: "an error has its status, success false, code, message, severity, no data, and details only as an object",
    async run(api) {
      for (const { path, status, code, details = [] } of failing) {
        const error = errorOf(await api.get(path), status, code);
        assert.deepEqual(Object.keys(error.details ?? {}).toSorted(), details.toSorted(), `the details of ${path}`);
      }
    },
  },
  {
    number: 10,
    title: "severity is warning for AUTH.RATE_LIMITED and error for all other codes",
    async run(api) {
      for (const { path, status } of failing) {
        assert.equal(errorOf(await api.get(path), status).severity, "error", path);
      }
      for (const [path, code, severity] of [
        ["/api/v1/patients", "API_KEY.RATE_LIMIT_EXCEEDED", "error"],
        [`/api/v1/soap/${soaps.signed.fp}`, "AUTH.RATE_LIMITED", "warning"],
      ] as const) {
        errorOf(await refusal(api, api.keys.limited, path), 429, code, severity);
      }
    },
  },
  {
    number: 11,
    title: "calendar errors use the envelope",
    async run(api) {
      errorOf(await api.get("/api/v1/calendar/events?start_date=x"), 400);
      errorOf(await api.get("/api/v1/calendar/events", "patient"), 403);
      errorOf(await api.get("/api/v1/calendar/events", null), 401);
    },
  },
  {
    number: 12,
    title: "unknown routes, malformed URLs, oversized URLs and invalid HTTP get an error in the envelope",
    async run(api) {
      for (const path of ["/nothing", "/api/v1", "/api/v2/patients", "/api/v1/patients/x/y", "/favicon.ico"]) {
        errorOf(await api.get(path), 404, "ROUTE.NOT_FOUND");
      }
      for (const path of ["/api/v1/patients/%zz", "/%c0%af", "/api/v1/soap/%"]) {
        errorOf(await api.get(path), 400, "REQUEST.MALFORMED");
      }
      errorOf(await api.get(`/api/v1/patients/${"a".repeat(5000)}`), 414);
      for (const bytes of [
        "GET / HTTQ/1.1\r\n\r\n",
        "\u0016\u0003\u0001\u0002\u0000\u0001",
        `GET /${"a".repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"a".repeat(40_000)}\r\n\r\n`,
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n",
        "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
        "PROPFIND /api/v1/patients HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      ]) {
        const response = await api.exchange(bytes);
        const envelope = JSON.parse(response.slice(response.indexOf("\r\n\r\n"))) as Record<string, unknown>;
        assert.match(response, /^HTTP\/1.1 4\d\d /);
        assert.equal(envelope["success"], false, response.slice(0, 100));
        assertShape(envelope["error"], shapes.error, "the error");
      }
    },
  },
  {
    number: 13,
    title: "HEAD returns the headers of GET without a body, and a trailing slash is another route",
    async run(api) {
      for (const { path } of endpoints) {
        const get = await api.get(path);
        const head = await api.get(path, "ours", { method: "HEAD" });
        assert.deepEqual([head.status, head.text], [200, ""], path);
        assert.equal(head.headers.get("content-length"), get.headers.get("content-length"), path);
        errorOf(await api.get(`${path}/`), 404, "ROUTE.NOT_FOUND");
      }
    },
  },
  {
    number: 14,
    title: "plan items have no endpoint",
    async run(api) {
      errorOf(await api.get(`/api/v1/soap/${soaps.signed.fp}/plan-items`), 404);
    },
  },
  {
    number: 15,
    title: "other methods on a documented path get 405 with Allow: GET, HEAD",
    async run(api) {
      for (const { path } of endpoints) {
        for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
          const response = await api.get(path, "ours", { method, body: "{" });
          errorOf(response, 405);
          assert.equal(response.headers.get("allow"), "GET, HEAD", `${method} ${path}`);
        }
      }
    },
  },
  {
    number: 16,
    title: "a page has items, total, page, page_size and has_more, and total counts all matches",
    async run(api) {
      for (const path of lists) {
        const { items, total } = page(await api.get(`${path}?page_size=5`));
        assert.deepEqual([items.length, total > 5], [5, true], path);
      }
    },
  },
  {
    number: 17,
    title: "has_more is true exactly if page * page_size < total",
    async run(api) {
      for (const path of lists) {
        const { total } = page(await api.get(path));
        for (const size of [1, 7, divisor(total), Math.min(100, total)]) {
          const last = Math.ceil(total / size);
          for (const number of [1, last - 1, last].filter((each) => each > 0)) {
            const { has_more } = page(await api.get(`${path}?page=${number}&page_size=${size}`));
            assert.equal(has_more, number * size < total, `${path}, page ${number} of ${size}, total ${total}`);
          }
        }
      }
    },
  },
  {
    number: 18,
    title: "a page past the end is 200 and empty, with its number and the same total",
    async run(api) {
      for (const path of lists) {
        const { total } = page(await api.get(path));
        for (const number of [total + 1, 999_999_999]) {
          assert.deepEqual(page(await api.get(`${path}?page=${number}&page_size=100`)), {
            items: [],
            total,
            page: number,
            page_size: 100,
            has_more: false,
          });
        }
      }
    },
  },
  {
    number: 19,
    title: "a page repeats the page and page_size in use, by default 1 and 20",
    async run(api) {
      for (const path of lists) {
        const byDefault = page(await api.get(path));
        assert.deepEqual([byDefault.page, byDefault.page_size, byDefault.items.length], [1, 20, 20], path);
        const asked = page(await api.get(`${path}?page=2&page_size=13`));
        assert.deepEqual([asked.page, asked.page_size], [2, 13], path);
      }
    },
  },
  {
    number: 20,
    title: "every response has its own X-Request-Id, which the body of a client error does not repeat",
    async run(api) {
      const ids = new Set<string | null>();
      const paths = [...endpoints, ...failing].map(({ path }) => path);
      for (const path of paths) {
        const response = await api.get(path);
        ids.add(response.headers.get("x-request-id"));
        assert.ok(!response.text.includes("request_id"), path);
      }
      ids.add((await api.get("/api/v1/patients", null)).headers.get("x-request-id"));
      assert.equal(ids.size, paths.length + 1);
      assert.deepEqual([ids.has(null), ids.has("")], [false, false]);
      assert.match((await api.exchange("nonsense\r\n\r\n")).toLowerCase(), /\r\nx-request-id: [^\r]+/);
    },
  },
  {
    number: 21,
    title: "every fp is a prefix and a ULID",
    async run(api) {
      const found = JSON.stringify(await everything(api)).match(/"[a-z]+_[0-9A-Z]{20,30}"/g) ?? [];
      assert.ok(found.length > 100, `${found.length} fps were found`);
      const pattern = /^"(patient|customer|clinic|user|soap|cds|calevt|invitem)_[0-7][0-9A-HJKMNP-TV-Z]{25}"$/;
      assert.deepEqual(
        found.filter((text) => !pattern.test(text)),
        [],
      );
    },
  },
  {
    number: 22,
    title: "the fp of each field has the prefix of its kind",
    async run(api) {
      const { patient, soap, study, event, item } = await everything(api);
      for (const [rows, rules] of [
        [patient, { fp: shapes.fp("patient"), owner_customer_fp: shapes.fp("customer") }],
        [
          soap,
          { fp: shapes.fp("soap"), patient_fp: shapes.fp("patient"), performed_by_clinic_fp: shapes.fp("clinic") },
        ],
        [study, { fp: shapes.fp("cds"), patient_fp: shapes.fp("patient") }],
        [
          event,
          {
            fp: shapes.fp("calevt"),
            patient_fp: shapes.event.patient_fp,
            assigned_user_fp: shapes.event.assigned_user_fp,
          },
        ],
        [item, { fp: shapes.fp("invitem") }],
      ] as const) {
        for (const row of rows) {
          for (const [field, rule] of Object.entries(rules))
            assert.ok(rule(row[field]), `${field}: ${String(row[field])}`);
        }
      }
    },
  },
  {
    number: 23,
    title: "the timestamps of a patient are UTC with milliseconds and Z",
    run: timestamps("patient", "created_at", "updated_at"),
  },
  {
    number: 24,
    title: "the timestamps of SOAP records, studies and events are UTC with milliseconds and Z",
    async run(api) {
      await timestamps("soap", "created_at")(api);
      await timestamps("study", "acquired_at")(api);
      await timestamps("event", "start_at", "end_at")(api);
      const { signed_at } = record(await api.get(`/api/v1/soap/${soaps.signed.fp}`));
      assert.ok(shapes.timestamp(signed_at), `signed_at is ${String(signed_at)}`);
    },
  },
  {
    number: 25,
    title: "date_of_birth is a date without a time",
    async run(api) {
      const { patient } = await everything(api);
      for (const { date_of_birth: born } of patient) assert.ok(born === null || shapes.date(born), String(born));
      assert.equal(record(await api.get(`/api/v1/patients/${patients.shared.fp}`))["date_of_birth"], "2019-04-12");
    },
  },
  {
    number: 26,
    title: "weight_kg is a JSON number with its decimals",
    async run(api) {
      const { text } = await api.get(`/api/v1/patients/${patients.shared.fp}`);
      assert.match(text, /"weight_kg":12\.5[,}]/);
    },
  },
  {
    number: 27,
    title: "the value of an analyte is a JSON number",
    async run(api) {
      assert.match((await api.get(`/api/v1/lab/diagnostics/${studies.full.fp}`)).text, /"value":5\.25[,}]/);
      assert.match((await api.get(`/api/v1/lab/diagnostics/${studies.bare.fp}`)).text, /"value":-2\.5[,}]/);
    },
  },
  {
    number: 28,
    title: "prices and quantities are integers, and is_virtual is a boolean",
    async run(api) {
      for (const row of (await everything(api)).item) assertShape(row, shapes.item, "the item");
    },
  },
  {
    number: 29,
    title: "instants are never shifted to a clinic's zone, and an event names no zone",
    async run(api) {
      const start = new Date(api.today).toISOString();
      const found = (await everything(api)).event.find(({ start_at }) => start_at === start);
      assert.ok(found, `an event that starts at ${start}`);
      assert.doesNotMatch(Object.keys(found).join(), /zone/i);
    },
  },
  {
    number: 30,
    title: "every documented key is present, null if unknown, and no other key is",
    async run(api) {
      const sparse = record(await api.get(`/api/v1/patients/${patients.sparse.fp}`));
      assert.deepEqual(sparse, patients.sparse);
      assert.deepEqual(record(await api.get(`/api/v1/soap/${soaps.draft.fp}`)), soaps.draft);
      const { patient, soap, study, event, item } = await everything(api);
      for (const row of patient) assertShape(row, shapes.patient, "the patient");
      for (const row of soap) assertShape(row, shapes.soap, "the SOAP record");
      for (const row of study) assertShape(row, shapes.study, "the study");
      for (const row of event) assertShape(row, shapes.event, "the event");
      for (const row of item) assertShape(row, shapes.item, "the item");
      assert.equal(patient.length, Math.min(100, listed.ours.length));
    },
  },
];

const lists = ["/api/v1/patients", "/api/v1/inventory"];

interface Failing {
  readonly path: string;
  readonly status: number;
  readonly code: string;
  /** The keys of the error's details. An error without details by default. */
  readonly details?: readonly string[];
}

const ofParameter = ["parameter", "rule", "value"];
const notFound = { status: 404, code: "PATIENT.NOT_FOUND" };
const malformedFp = { ...notFound, details: ofParameter };
const denied = { status: 403, code: "PATIENT.ACCESS_DENIED" };
const invalid = { status: 400, code: "REQUEST.INVALID_PARAMETER", details: ofParameter };
const outOfBounds = { ...invalid, details: [...ofParameter, "max", "min"] };

/** Requests that fail for a key with every permission. */
const failing: readonly Failing[] = [
  { path: "/nothing", status: 404, code: "ROUTE.NOT_FOUND" },
  { path: "/api/v1/patients/%zz", status: 400, code: "REQUEST.MALFORMED" },
  { path: "/api/v1/patients/x", ...malformedFp },
  { path: `/api/v1/patients/${fixedFp("patient", 99_999)}`, ...notFound },
  { path: `/api/v1/patients/${patients.theirs.fp}`, ...denied },
  { path: "/api/v1/patients?page=0", ...outOfBounds },
  { path: "/api/v1/patients?updated_since=x", ...invalid },
  { path: "/api/v1/soap/x", ...malformedFp },
  { path: `/api/v1/soap/${soaps.ofTheirs.fp}`, ...denied },
  { path: "/api/v1/lab/diagnostics/x", ...malformedFp },
  { path: `/api/v1/lab/diagnostics/${studies.ofTheirs.fp}`, ...denied },
  { path: "/api/v1/calendar/events?type=x", ...invalid },
  {
    path: "/api/v1/calendar/events?start_date=2026-01-01&end_date=2026-12-01",
    status: 400,
    code: "CALENDAR.INVALID_RANGE",
    details: ["max_days"],
  },
  { path: "/api/v1/inventory?page_size=101", ...outOfBounds },
];

function keys(path: string, expected: string) {
  return async (api: Api) => {
    const response = body(await api.get(path));
    assert.equal(Object.keys(response).toSorted().join(" "), expected);
    assert.equal(response["success"], true);
    if ("message" in response) assert.equal(typeof response["message"], "string");
  };
}

function timestamps(kind: keyof Awaited<ReturnType<typeof everything>>, ...fields: string[]) {
  return async (api: Api) => {
    const rows = (await everything(api))[kind];
    assert.notDeepEqual(rows, []);
    for (const row of rows) {
      for (const field of fields) assert.ok(shapes.timestamp(row[field]), `${field} is ${String(row[field])}`);
    }
  };
}

/** Reads some records of each resource. */
async function everything(api: Api) {
  const all = async (path: string, rows: object) =>
    Promise.all(
      (Object.values(rows) as { fp: string }[])
        .filter(({ fp }) => !/0{9}[789]$/.test(fp))
        .map(async ({ fp }) => record(await api.get(`${path}/${fp}`))),
    );
  return {
    patient: page(await api.get("/api/v1/patients?page_size=100")).items,
    soap: await all("/api/v1/soap", soaps),
    study: await all("/api/v1/lab/diagnostics", studies),
    event: events(await api.get("/api/v1/calendar/events")),
    item: page(await api.get("/api/v1/inventory?page_size=100")).items,
  };
}

/** Returns a page size that divides the total, so that the last page is full. */
function divisor(total: number): number {
  for (let size = Math.min(100, total); size > 1; size -= 1) if (total % size === 0) return size;
  return 1;
}
