import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { createMetrics } from "../../../agent/status/metrics.ts";
import { Postgres, postgresProblem } from "../../support/machine/postgres.ts";
import { ROOT, type Running, SERVER, start, temporaryFolder, until } from "../../support/machine/processes.ts";
import { promtool, runPromtool } from "../../support/machine/promtool.ts";

// Goal: rules and dashboard query metrics that exist, and the README lists each. Method: the scrape of a real server, on
// PostgreSQL where it is installed, and the agent's registry.

const FOLDER = path.join(ROOT, "server/operations");
const RULES = path.join(FOLDER, "alerts.yml");
const UNIT_TESTS = path.join(ROOT, "test/server/operations/alerts.test.yml");
const DAYS_TESTS = path.join(ROOT, "test/server/operations/alerts-of-days.test.yml");

/** Metrics that Prometheus makes. */
const OF_PROMETHEUS = ["up"];
/** Words of PromQL that look like the name of a metric. */
const WORDS = /^(sum|rate|increase|delta|by|or|and|on|time|histogram_quantile|min_over_time|topk|label_values)$/;

interface Rules {
  groups: { rules: { alert: string; expr: string }[] }[];
}

interface Board {
  templating: { list: { definition?: string }[] };
  panels: { id: number; targets: { expr: string }[] }[];
}

let postgres: Postgres | undefined;
let folder: string;
let server: Running;
let scraped = "";
/** The status of /metrics at the port of the API. */
let onApi = 0;

beforeAll(async () => {
  folder = temporaryFolder();
  if (postgresProblem() === null) postgres = await Postgres.start();
  const env = postgres && { DATABASE_URL: postgres.url() };
  server = start(SERVER, ["run", "--port", "0", "--metrics", "0", "--data", folder], env);
  const listening = await until("the server listens", () => /listening on (http:[^"]+)/.exec(server.output())?.[1]);
  const metrics = /metrics at (http:[^"]+)/.exec(server.output())?.[1] ?? "";
  onApi = (await fetch(`${listening}/metrics`)).status;
  scraped = await until("the request is in the metrics", async () => {
    const text = await (await fetch(metrics)).text();
    return text.includes('route="none"') ? text : null;
  });
});

afterAll(async () => {
  await server?.end("SIGKILL");
  await postgres?.end();
  rmSync(folder, { recursive: true, force: true });
});

function namesIn(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = ""]) => name);
}

/** Returns the metrics of an expression; those of a histogram by its own name. */
function metricsIn(expression: string): string[] {
  const bare = expression.replaceAll(/"[^"]*"|\{[^}]*\}|\[[^\]]*\]|\b(?:by|without) \([^)]*\)/g, " ");
  const names = bare.match(/[a-z_][a-z0-9_]*/gi) ?? [];
  return names.filter((name) => !WORDS.test(name)).map((name) => name.replace(/_(bucket|count|sum)$/, ""));
}

async function known(): Promise<ReadonlySet<string>> {
  return new Set([...namesIn(scraped), ...namesIn(await createMetrics().registry.metrics()), ...OF_PROMETHEUS]);
}

test("the port of the API serves no metrics", () => {
  expect(onApi).toBe(404);
});

const rules = parse(readFileSync(RULES, "utf8")) as Rules;
const alerts = rules.groups.flatMap((group) => group.rules);

test("each metric of the alert rules is in the scrape of a server or an agent", async () => {
  const names = await known();
  const asked = alerts.flatMap(({ alert, expr }) => metricsIn(expr).map((name) => ({ alert, name })));
  expect(asked.length).toBeGreaterThan(15);
  expect(asked.filter(({ name }) => !names.has(name))).toEqual([]);
});

test("each metric of the dashboard is in the scrape of a server or an agent", async () => {
  const names = await known();
  const board = JSON.parse(readFileSync(path.join(FOLDER, "grafana.json"), "utf8")) as Board;
  const expressions = [
    ...board.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...board.templating.list.flatMap(({ definition }) => definition?.replace(/, instance\)/, ")") ?? []),
  ];
  const asked = expressions.flatMap(metricsIn);
  expect(asked.length).toBeGreaterThan(25);
  expect(asked.filter((name) => !names.has(name))).toEqual([]);
  expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
});

test.skipIf(postgresProblem() !== null)("the pools of PostgreSQL are in the scrape", () => {
  const open = [...scraped.matchAll(/^vetwire_server_pool_connections\{pool="(\w+)",state="(?:idle|busy)"\} (\d+)$/gm)];
  expect(new Set(open.map(([, pool]) => pool))).toEqual(new Set(["read", "write"]));
  expect(open.reduce((sum, [, , count]) => sum + Number(count), 0)).toBeGreaterThan(0);
});

describe.skipIf(!promtool)("promtool", () => {
  test("promtool accepts the alert rules, and each has a case in their unit tests", () => {
    expect(runPromtool(["check", "rules", RULES])).toMatchObject({ code: 0 });
    const cases = readFileSync(UNIT_TESTS, "utf8");
    expect(alerts.filter(({ alert }) => !cases.includes(`alertname="${alert}",instance="a"`))).toEqual([]);
  });

  test("each alert fires for its fault, and is silent for a small or short one", () => {
    expect(runPromtool(["test", "rules", UNIT_TESTS, DAYS_TESTS])).toMatchObject({ code: 0 });
  });

  test("promtool accepts the text of the scrape, and finds nothing against the names of the server", () => {
    const { output } = runPromtool(["check", "metrics"], scraped);
    expect(output.split("\n").filter((line) => line.includes("vetwire_") || line.includes("error"))).toEqual([]);
  });
});
