import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { clinics, fixedFp, foreignFps, foreignMarks, patients, soaps, studies } from "./data.ts";
import { endpoints } from "./endpoints.ts";
import { awaitWindow, readPage, refusal } from "./limit-windows.ts";
import { type ApiCheck, errorOf, events, fps, walk } from "./read.ts";
import { CHARS_SHOWN, holdsSecret } from "../support/runner/secrets.ts";
import { type ApiResponse, authorization, type KeyName, keyPlan } from "./server.ts";

// Authentication, permissions, conditional requests, and the absence of foreign data in responses.

export const accessChecks: readonly ApiCheck[] = [
  {
    number: 129,
    title: "a request without credentials gets 401 AUTH.UNAUTHORIZED on every endpoint",
    async run(api) {
      for (const { path } of endpoints) isUnauthorized(await api.get(path, null));
    },
  },
  {
    number: 130,
    title: "an unknown, a revoked and an expired key get the same 401, which names the expected header",
    async run(api) {
      const { ours, revoked, expired } = api.keys;
      for (const { path, header } of endpoints) {
        const none = isUnauthorized(await api.get(path, null));
        assert.equal(String(errorOf(none, 401).details?.["header"]).toLowerCase(), header, path);
        for (const key of [`${ours.slice(0, -1)}_`, unknownKey(), revoked, expired]) {
          const response = isUnauthorized(await api.send(path, { headers: authorization(path, key) }));
          assert.equal(response.text, none.text);
          assert.deepEqual([...response.headers.keys()], [...none.headers.keys()]);
        }
      }
    },
  },
  {
    number: 131,
    title: "a valid key in the header of the other family gets 401",
    async run(api) {
      for (const { path, header } of endpoints) {
        const wrong =
          header === "x-api-key" ? { authorization: `Bearer ${api.keys.ours}` } : { "x-api-key": api.keys.ours };
        isUnauthorized(await api.send(path, { headers: wrong }));
      }
    },
  },
  {
    number: 132,
    title: "a key without the permission gets 403 AUTH.FORBIDDEN with the missing permissions",
    async run(api) {
      for (const { path, openedBy } of endpoints) {
        for (const key of ["patient", "calendar", "inventory", "soap", "lab"] as const) {
          const response = await api.get(path, key);
          if (openedBy.includes(key)) assert.equal(response.status, 200, `${key} ${path}`);
          else isForbidden(response, openedBy);
        }
      }
    },
  },
  {
    number: 133,
    title: "a key begins with sk_live_, and another prefix gets 401",
    async run(api) {
      for (const key of Object.values(api.keys)) assert.match(key, /^sk_live_[0-9A-Za-z]{38}$/);
      for (const prefix of ["sk_test_", "pk_live_", "SK_LIVE_", ""]) {
        const key = api.keys.ours.replace("sk_live_", prefix);
        isUnauthorized(await api.send("/api/v1/patients", { headers: { "x-api-key": key } }));
      }
    },
  },
  {
    number: 137,
    title: "calendars and inventories of two clinics have nothing in common, since the key names the clinic",
    async run(api) {
      const seen = async (key: KeyName) => [
        ...fps(events(await api.get("/api/v1/calendar/events", key))),
        ...fps(await walk(api, "/api/v1/inventory", 100, key)),
      ];
      const theirs = await seen("theirs");
      const common = (await seen("ours")).filter((fp) => theirs.includes(fp));
      assert.deepEqual([common, theirs.length], [[], 2]);
    },
  },
  {
    number: 138,
    title: "a key in the query string or in a cookie gets 401",
    async run(api) {
      const { ours } = api.keys;
      for (const { path } of endpoints) {
        for (const name of ["api_key", "access_token", "X-API-Key", "key"]) {
          isUnauthorized(await api.get(`${path}?${name}=${ours}`, null));
        }
        isUnauthorized(await api.send(path, { headers: { cookie: `api_key=${ours}; X-API-Key=${ours}` } }));
      }
    },
  },
  {
    number: 139,
    title: "a 401 carries WWW-Authenticate",
    async run(api) {
      for (const { path, header } of endpoints) {
        const challenge = (await api.get(path, null)).headers.get("www-authenticate") ?? "";
        assert.match(challenge, header === "authorization" ? /^Bearer / : /^\S+ realm=/);
      }
    },
  },
  {
    number: 147,
    title: "no response or error contains a field of a foreign record",
    async run(api) {
      const paths = ["/api/v1/patients?page_size=100", "/api/v1/calendar/events", "/api/v1/inventory?page_size=100"];
      const all = [...foreignFps.patients, ...foreignFps.soaps, ...foreignFps.studies, clinics.theirs];
      for (const fp of [...all, fixedFp("calevt", 500), fixedFp("invitem", 500)]) {
        for (const path of ["patients", "soap", "lab/diagnostics", "calendar/events", "inventory"]) {
          paths.push(`/api/v1/${path}/${fp}`);
        }
        paths.push(
          `/api/v1/calendar/events?patient_fp=${fp}`,
          `/api/v1/inventory?fp=${fp}`,
          `/api/v1/patients?fp=${fp}`,
        );
      }
      for (const path of paths) {
        const { text, headers } = await api.get(path);
        const received = `${text} ${[...headers].join(" ")}`;
        // A response may repeat the request.
        const marks = [...foreignMarks, ...all].filter((mark) => !path.includes(mark));
        for (const mark of marks) assert.ok(!received.includes(mark), `${mark} in the response to ${path}`);
      }
    },
  },
  {
    number: 149,
    title: "an unchanged body is 304 with If-None-Match and costs no budget",
    async run(api) {
      for (const { path } of endpoints) {
        await awaitWindow(api, api.keys.counted);
        const first = await api.get(path, "counted");
        const etag = first.headers.get("etag") ?? "";
        assert.match(etag, /^(W\/)?"[^"]+"$/, path);
        const before = Number(first.headers.get("x-ratelimit-remaining"));
        for (const value of [etag, `"other", ${etag}`, "*"]) {
          const again = await api.get(path, "counted", { headers: { "if-none-match": value } });
          assert.deepEqual([again.status, again.text, again.headers.get("etag")], [304, "", etag], `${path} ${value}`);
          assert.equal(Number(again.headers.get("x-ratelimit-remaining")), before, `${path} spends a budget`);
        }
        const other = await api.get(path, "counted", { headers: { "if-none-match": '"other"' } });
        assert.deepEqual([other.status, other.text], [200, first.text], path);
      }
    },
  },
  {
    number: 150,
    title: "responses are private, no-cache, and vary on the key headers and Accept-Encoding",
    async run(api) {
      const bad = [
        "/nothing",
        "/api/v1/patients?page=0",
        `/api/v1/patients/${patients.theirs.fp}`,
        "/api/v1/patients/%zz",
      ];
      for (const path of [...endpoints.map((each) => each.path), ...bad]) {
        for (const key of ["ours", null] as const) {
          const { headers } = await api.get(path, key);
          assert.equal(headers.get("cache-control"), "private, no-cache", path);
          const varies = (headers.get("vary") ?? "").toLowerCase().split(/, */);
          assert.deepEqual(varies.toSorted(), ["accept-encoding", "authorization", "x-api-key"], path);
          const unchanged = await api.get(path, key, { headers: { "if-none-match": "*" } });
          for (const name of ["cache-control", "vary"]) {
            assert.equal(unchanged.headers.get(name), headers.get(name), `${name} of ${unchanged.status} ${path}`);
          }
        }
      }
    },
  },
];

export const changingAccessChecks: readonly ApiCheck[] = [
  {
    number: 134,
    title: "a clinic has several active keys, and revoking one leaves the others",
    async run(api) {
      const [one, other] = [await api.operator.makeKey(keyPlan.ours), await api.operator.makeKey(keyPlan.ours)];
      const statuses = async () => Promise.all([one, other].map(async ({ key }) => (await readPage(api, key)).status));
      assert.deepEqual(await statuses(), [200, 200]);
      await api.operator.revokeKey(one.id);
      assert.deepEqual(await statuses(), [401, 200]);
      await api.operator.revokeKey(other.id);
    },
  },
  {
    number: 135,
    title: "four characters at each end of a key are listed, and no list, log, export or file holds more",
    async run(api) {
      const made = await api.operator.makeKey(keyPlan.ours);
      await readPage(api, made.key);
      // The log holds refusals only.
      errorOf(await api.send("/nothing", { headers: { "x-api-key": made.key } }), 404);
      const { listed, written } = await api.operator.written();
      const shown = listed.find(({ id }) => id === made.id)?.key;
      assert.equal(shown, `${made.key.slice(0, "sk_live_".length + CHARS_SHOWN)}...${made.key.slice(-CHARS_SHOWN)}`);
      assert.ok(written.includes("request refused"), "expected a refusal in the log, got none");
      for (const [name, key] of Object.entries({ ...api.keys, made: made.key })) {
        assert.equal(
          holdsSecret(key, written),
          false,
          `characters of the key ${name} are in the list, the log, the export or a file`,
        );
      }
      await api.operator.revokeKey(made.id);
    },
  },
  {
    number: 136,
    title: "a revoked key fails at the next request",
    async run(api) {
      const { key, id } = await api.operator.makeKey(keyPlan.ours);
      for (let count = 0; count < 5; count += 1) assert.equal((await readPage(api, key)).status, 200);
      await api.operator.revokeKey(id);
      isUnauthorized(await readPage(api, key));
    },
  },
  {
    number: 140,
    title: "a request with several faults gets the first one of route, key, limit, permission, parameter and record",
    async run(api) {
      const both = "?page=0&start_date=x";
      errorOf(await api.get(`/api/v1/patient${both}`, null), 404, "ROUTE.NOT_FOUND");
      errorOf(await api.send(`/api/v1/patients${both}`, { method: "POST" }), 405, "ROUTE.METHOD_NOT_ALLOWED");
      isUnauthorized(await api.get(`/api/v1/patients${both}`, null));
      for (const path of ["/api/v1/patients", "/api/v1/calendar/events"]) {
        errorOf(await api.get(`${path}${both}`, "inventory"), 403, "AUTH.FORBIDDEN");
        errorOf(await api.get(`${path}${both}`), 400, "REQUEST.INVALID_PARAMETER");
      }
      errorOf(await api.get(`/api/v1/patients/${patients.theirs.fp}`, "calendar"), 403, "AUTH.FORBIDDEN");
      errorOf(await api.get(`/api/v1/soap/${soaps.ofTheirs.fp}`, "calendar"), 403, "AUTH.FORBIDDEN");
      errorOf(await api.get(`/api/v1/lab/diagnostics/${studies.ofTheirs.fp}`, "calendar"), 403, "AUTH.FORBIDDEN");
      // The exhausted key has no permission for the inventory.
      const { limited } = api.keys;
      const refused = await refusal(api, limited, `/api/v1/inventory${both}`);
      errorOf(refused, 429, "API_KEY.RATE_LIMIT_EXCEEDED");
    },
  },
];

/** Asserts a 403 that names the permissions of these keys. */
export function isForbidden(response: ApiResponse, openedBy: readonly KeyName[]): void {
  const { message, details } = errorOf(response, 403, "AUTH.FORBIDDEN");
  const required = openedBy.flatMap((key) => keyPlan[key].permissions);
  assert.equal(message, "Insufficient permissions.");
  assert.deepEqual(details, { required });
}

function isUnauthorized(response: ApiResponse): ApiResponse {
  assert.equal(errorOf(response, 401, "AUTH.UNAUTHORIZED").message, "Authentication required.");
  return response;
}

/** Makes a well-formed key, with a valid checksum of six characters, that no clinic has. */
function unknownKey(): string {
  const text = `sk_live_${randomBytes(16).toString("hex")}`;
  let rest = crc32(text);
  let checksum = "";
  for (; checksum.length < 6; rest = Math.floor(rest / 62)) checksum = (BASE62[rest % 62] ?? "") + checksum;
  return text + checksum;
}

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
