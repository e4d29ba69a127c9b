import { createServer } from "node:http";
import { Client } from "pg";
import type * as app from "../../../server/app.ts";
import type * as pepper from "../../../server/http/auth/pepper.ts";
import type * as memory from "../../../server/http/rate-limit/memory-counters.ts";
import type * as limits from "../../../server/http/rate-limit/rate-limiter.ts";
import type * as open from "../../../server/store/database/open.ts";
import { fromBuild } from "../build.ts";

// A server on the PostgreSQL of DATABASE_URL, with counters in the database or in memory: FOLDER shared|memory LIMIT. It prints its
// address, and that of its use of the processor and of PostgreSQL.

const [folder = "", counters = "shared", limit = ""] = process.argv.slice(2);

let queries = 0;
// The types describe many forms of one function.
const connection = Client.prototype as unknown as { query: (...given: unknown[]) => unknown };
const send = connection.query;
connection.query = function counted(this: unknown, ...given: unknown[]) {
  queries += 1;
  return send.apply(this, given);
};

const { buildApp } = await fromBuild<typeof app>("server/app.ts");
const { openStore } = await fromBuild<typeof open>("server/store/database/open.ts");
const { loadPepper } = await fromBuild<typeof pepper>("server/http/auth/pepper.ts");
const { memoryCounters } = await fromBuild<typeof memory>("server/http/rate-limit/memory-counters.ts");
const { defaultLimits } = await fromBuild<typeof limits>("server/http/rate-limit/rate-limiter.ts");

const store = await openStore(process.env["DATABASE_URL"] ?? "");
const plenty = { minute: 1_000_000_000, hour: 1_000_000_000 };
const server = buildApp(store, {
  pepper: loadPepper(folder, false),
  limits: { ...defaultLimits, integration: plenty, partner: { minute: Number(limit), hour: 1_000_000 } },
  ...(counters === "memory" && { counters: memoryCounters() }),
});
const address = await server.listen({ port: 0, host: "127.0.0.1" });

const use = createServer((_request, response) => {
  const { user, system } = process.cpuUsage();
  response.end(JSON.stringify({ queries, cpuMs: (user + system) / 1000 }));
});
use.listen(0, "127.0.0.1", () => {
  const bound = use.address();
  const port = typeof bound === "object" ? bound?.port : "";
  process.stdout.write(`serves ${address}, use http://127.0.0.1:${port}, ready\n`);
});
