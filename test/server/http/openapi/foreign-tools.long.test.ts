import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { freePort, until } from "../../../support/machine/processes.ts";
import {
  clinic,
  connection,
  importEntities,
  keyPermissions,
  patient,
  startServer,
  study,
  temporaryFolder,
} from "../../harness.ts";
import { event, item, soap } from "../../records.ts";

// Goal: the tools with which integrators read an OpenAPI document accept ours. Method: npm fetches each tool for the test, because an
// installation of all of them would be 140 MB.

const DOCUMENT = path.resolve(import.meta.dirname, "../../contract.json");
const TSC = path.resolve(import.meta.dirname, "../../../../node_modules/typescript/bin/tsc");
const GENERATORS = [
  ["openapi-typescript", ["openapi-typescript@7.13.0"], ["openapi-typescript", DOCUMENT, "-o", "out/types.d.ts"]],
  ["hey-api", ["@hey-api/openapi-ts@0.99.0", "typescript@5.9.3"], ["openapi-ts", "-i", DOCUMENT, "-o", "out"]],
  ["orval", ["orval@8.38.0"], ["orval", "--input", DOCUMENT, "--output", "out/client.ts", "--client", "fetch"]],
] as const;
const PRISM = "@stoplight/prism-cli@5.16.0";

function npmProblem(): string | null {
  try {
    execFileSync("npm", ["view", PRISM, "version"], { stdio: "ignore", timeout: 60_000 });
    return null;
  } catch {
    return "npm's registry cannot be reached: the tools that read the API document were left out";
  }
}

const problem = npmProblem();
if (problem !== null) process.stdout.write(`${problem}\n`);

function commandOf(packages: readonly string[], command: readonly string[]): string[] {
  return ["exec", "--yes", ...packages.map((name) => `--package=${name}`), "--", ...command];
}

describe.skipIf(problem !== null)("foreign tools", () => {
  test.each(GENERATORS)("%s makes a client that the strict compiler accepts", (_name, packages, command) => {
    const cwd = temporaryFolder();
    execFileSync("npm", commandOf(packages, command), { cwd, stdio: "pipe" });
    const files = fs.readdirSync(path.join(cwd, "out"), { recursive: true, encoding: "utf8" });
    const sources = files.filter((name) => name.endsWith(".ts")).map((name) => path.join(cwd, "out", name));
    expect(sources).not.toEqual([]);
    const strict = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"];
    execFileSync(
      process.execPath,
      [TSC, ...strict, "--module", "esnext", "--moduleResolution", "bundler", ...sources],
      {
        cwd,
        stdio: "pipe",
      },
    );
  });

  describe("Prism between a client and the server", () => {
    const ours = newFp("clinic");
    const one = patient();
    const record = soap(one.fp, ours);
    const { revision: _r, dedupe_key: _d, source: _s, patient_hint: _h, ...seen } = study({ patient_fp: one.fp });

    async function served(): Promise<{ upstream: string; key: string }> {
      const server = await startServer();
      const imported = { type: "study" as const, ...seen, patient_fp: one.fp };
      const records = [clinic(ours), one, connection(one.fp, ours), record, imported, event(ours), item(ours)];
      await importEntities(server.store, ...records);
      const key = await server.makeKey(ours, [
        ...keyPermissions,
        "clinic.audit.view",
        "clinic.calendar.view",
        "clinic.inventory.view",
      ]);
      await server.app.listen({ port: 0, host: "127.0.0.1" });
      return { upstream: `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`, key };
    }

    /** Starts Prism, which answers a request or response that the document does not allow with 422 or 500. */
    async function prism(upstream: string, document = DOCUMENT): Promise<string> {
      const port = await freePort();
      const words = ["prism", "proxy", document, upstream, "--errors", "-p", String(port)];
      const child: ChildProcess = spawn("npm", commandOf([PRISM], words), { stdio: "ignore", detached: true });
      onTestFinished(() => void (child.pid !== undefined && process.kill(-child.pid, "SIGKILL")));
      const url = `http://127.0.0.1:${port}`;
      await until("Prism listens", () =>
        fetch(url).then(
          () => true,
          () => false,
        ),
      );
      return url;
    }

    const get = async (url: string, key: string) => {
      const isBearer = /\/(soap|lab)\b(?!.*\/trail)/.test(url);
      const headers = new Headers(isBearer ? { authorization: `Bearer ${key}` } : { "x-api-key": key });
      const response = await fetch(url, { headers });
      return { status: response.status, text: await response.text() };
    };

    test("finds no response that the document does not describe", async () => {
      const { upstream, key } = await served();
      const url = await prism(upstream);
      const paths = [
        ...["/patients", `/patients/${one.fp}`, "/patients?page_size=1&species=dog", "/soap", `/soap/${record.fp}`],
        ...["/lab/analytes", "/lab/diagnostics", "/lab/diagnostics?include=codes", `/lab/diagnostics/${seen.fp}`],
        ...[`/lab/diagnostics/${seen.fp}/trail`, `/lab/diagnostics/${seen.fp}/report.pdf`, "/changes", "/events"],
        ...["/calendar/events?start_date=2026-11-01T00:00:00.000Z&end_date=2026-11-30T00:00:00.000Z", "/inventory"],
      ];
      for (const each of paths) expect([each, (await get(`${url}/api/v1${each}`, key)).status]).toEqual([each, 200]);
      expect(await get(`${url}/api/v1/patients/patient_01ZZZZZZZZZZZZZZZZZZZZZZZZ`, key)).toMatchObject({
        status: 404,
      });
    });

    test("finds a response that another document does not describe", async () => {
      const document = JSON.parse(fs.readFileSync(DOCUMENT, "utf8")) as {
        components: { schemas: Record<string, { properties: Record<string, unknown> }> };
      };
      const changed = path.join(temporaryFolder(), "openapi.json");
      const { schemas } = document.components;
      for (const schema of Object.values(schemas)) {
        if (schema.properties?.["species"] !== undefined) schema.properties["species"] = { type: "integer" };
      }
      fs.writeFileSync(changed, JSON.stringify(document));
      const { upstream, key } = await served();
      const { status, text } = await get(`${await prism(upstream, changed)}/api/v1/patients/${one.fp}`, key);
      expect(status).toBe(500);
      expect(text).toContain("VIOLATIONS");
    });
  });
});
