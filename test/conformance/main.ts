import { writeFileSync } from "node:fs";
import { runCheck } from "./check.ts";
import { checkGroups } from "./checks.ts";
import { clinics, lines } from "./data.ts";
import { printLine } from "../../shared/platform/cli/output.ts";
import { Postgres, postgresProblem } from "../support/machine/postgres.ts";
import { type Api, foreignServer, keyPlan, ownServer, startOfToday } from "./server.ts";

// npm run conformance: runs the numbered checks of the read API and of the sync API over HTTP. It starts a server on SQLite, and one on PostgreSQL
// if the machine has it; from dist/ if VETWIRE_BUILT is set. Or it checks the server at VETWIRE_URL, on the UTC day on which
// that server's data was written:
//   npm run conformance -- data FILE    writes the data to import there, and prints the keys to create
//   VETWIRE_URL=http://... VETWIRE_KEYS=keys.json npm run conformance    with {"ours": "sk_live_...", ...} in the file
// Checks that need the server's data folder, for an import or a revocation, are then not counted.

interface Totals {
  passed: number;
  failed: number;
}

async function conformance(): Promise<void> {
  const url = process.env["VETWIRE_URL"];
  const totals =
    url === undefined
      ? await checkOwnServers()
      : await runChecks(await foreignServer(url, process.env["VETWIRE_KEYS"] ?? "keys.json"));
  printLine(totalsText(totals));
  if (totals.failed > 0) process.exitCode = 1;
}

async function checkOwnServers(): Promise<Totals> {
  const onSqlite = await checkOwnServer("SQLite");
  const noPostgres = postgresProblem();
  if (noPostgres !== null) {
    printLine(`on PostgreSQL: not checked, ${noPostgres}`);
    return onSqlite;
  }
  const postgres = await Postgres.start();
  try {
    const onPostgres = await checkOwnServer("PostgreSQL", postgres.url());
    return { passed: onSqlite.passed + onPostgres.passed, failed: onSqlite.failed + onPostgres.failed };
  } finally {
    await postgres.end();
  }
}

async function checkOwnServer(engine: string, postgresUrl?: string): Promise<Totals> {
  const { api, stop } = await ownServer(postgresUrl);
  try {
    const totals = await runChecks(api);
    printLine(`on ${engine}: ${totalsText(totals)}`);
    return totals;
  } finally {
    await stop();
  }
}

async function runChecks(api: Api): Promise<Totals> {
  const totals = { passed: 0, failed: 0 };
  for (const check of checkGroups.flatMap(({ checks }) => checks)) {
    const outcome = await runCheck(check, api);
    const reason = "reason" in outcome ? `: ${outcome.reason.replaceAll(/\s*\n\s*/g, " ")}` : "";
    printLine(`${outcome.kind.padEnd(11)} ${String(check.number).padStart(3)} ${check.title}${reason}`);
    if (outcome.kind === "passed" || outcome.kind === "failed") totals[outcome.kind] += 1;
  }
  return totals;
}

function totalsText({ passed, failed }: Totals): string {
  return `${passed} passed, ${failed} failed`;
}

function writeData(file: string): void {
  writeFileSync(
    file,
    lines(startOfToday())
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
  );
  for (const [name, { clinic, type, permissions }] of Object.entries(keyPlan)) {
    const then = name === "revoked" ? ", then revoke it" : name === "expired" ? ", expired" : "";
    printLine(`${name}: --clinic ${clinics[clinic]} --type ${type} --permissions ${permissions.join(",")}${then}`);
  }
}

const [command, file] = process.argv.slice(2);
if (command === undefined) await conformance();
else if (command === "data" && file !== undefined) writeData(file);
else throw new Error(`the command is ${process.argv.slice(2).join(" ")}, expected none or data FILE`);
