import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { defaultLimits } from "../../../server/http/rate-limit/rate-limiter.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { type ApiDocument, Contract } from "../../support/runner/contract.ts";
import { clinic, startLimitedServer, startServer, temporaryFolder } from "../harness.ts";

// The document of /sync/v1 and its limits. What the items do is in test/server/records/registry.

const ours = newFp("clinic");
const empty = { source: "pims", mode: "partial", items: [] };

test("practice software has a budget of its own, and a request beyond it gets 429 with Retry-After", async () => {
  const twice = { minute: 2, hour: 10 };
  const server = await startLimitedServer({ ...defaultLimits, integration: twice }, clinic(ours));
  const key = await server.makeKey(ours, ["clinic.sync.write", "clinic.patient.view"]);
  const contract = new Contract((await server.app.inject("/sync/openapi.json")).json<ApiDocument>());
  const send = async () => {
    const asked = { method: "POST", url: "/sync/v1/patients", headers: { "x-api-key": key }, payload: empty } as const;
    const { statusCode: status, headers, body: text } = await server.app.inject(asked);
    expect(contract.problems({ ...asked, status, headers: Object.entries(headers), text })).toEqual([]);
    return [status, headers["retry-after"]];
  };
  expect([await send(), await send()]).toEqual([
    [200, undefined],
    [200, undefined],
  ]);
  server.clock.now += 20_000;
  expect(await send()).toEqual([429, "40"]);
  expect((await server.get(key, "/api/v1/patients")).status).toBe(200);
  server.clock.now += 40_000;
  expect(await send()).toEqual([200, undefined]);
});

test("no program takes the source of the dashboard's files, whose ids would be ids of its own", async () => {
  const server = await startServer(clinic(ours));
  const key = await server.makeKey(ours, ["clinic.sync.write", "clinic.lab.ingest"]);
  const send = async (url: string, payload: object) => {
    const { statusCode, body } = await server.app.inject({
      method: "POST",
      url,
      headers: { "x-api-key": key },
      payload,
    });
    return [statusCode, body.includes("1 to 64 letters, digits, dots, - or _, and not file")];
  };
  const merge = { source: "file", survivor: "1", merged: "2" };
  for (const kind of ["patients", "owners", "orders", "appointments"])
    expect(await send(`/sync/v1/${kind}`, { ...empty, source: "file" })).toEqual([400, true]);
  expect(await send("/sync/v1/patients/merge", merge)).toEqual([400, true]);
  expect(await send("/agent/v1/registry", { source: "file", changes: [] })).toEqual([400, true]);
  expect(await send("/agent/v1/registry", { source: "files", changes: [] })).toEqual([200, false]);
});

describe("the document of /sync/v1", () => {
  test("the document has valid examples of every response and error, and its page loads without a key", async () => {
    const { app } = await startServer();
    const document = (await app.inject("/sync/openapi.json")).json<ApiDocument>();
    expect(Object.keys(document.paths)).toEqual([
      ...[
        "/sync/v1/patients",
        "/sync/v1/owners",
        "/sync/v1/orders",
        "/sync/v1/appointments",
        "/sync/v1/patients/merge",
      ],
    ]);
    expect(document.info.description).toContain("external_id");
    expect(new Contract(document).faultsOfExamples).toEqual([]);
    for (const url of ["/sync/docs", "/sync/docs/static/swagger-ui-bundle.js", "/sync/docs/json"]) {
      expect([url, (await app.inject(url)).statusCode]).toEqual([url, 200]);
    }
    expect((await app.inject("/openapi.json")).body.includes("/sync/")).toBe(false);
  });

  test("the document passes redocly lint without a warning", async () => {
    const file = join(temporaryFolder(), "openapi.json");
    writeFileSync(file, (await (await startServer()).app.inject("/sync/openapi.json")).body);
    const cli = "node_modules/@redocly/cli/bin/cli.js";
    const lint = spawnSync(process.execPath, [cli, "lint", file, "--config", ".redocly.yaml", "--format", "json"], {
      cwd: fileURLToPath(new URL("../../../", import.meta.url)),
      encoding: "utf8",
      timeout: 60_000,
    });
    const { totals, problems } = JSON.parse(lint.stdout) as { totals: object; problems: object[] };
    expect({ totals, problems }).toEqual({ totals: { errors: 0, warnings: 0, ignored: 0 }, problems: [] });
  });
});
