import { writeFileSync } from "node:fs";
import { accessChecks, changingAccessChecks } from "./access.ts";
import { calendarChecks } from "./calendar.ts";
import { runCheck } from "./check.ts";
import { contractChecks } from "./contract.ts";
import { clinics, lines } from "./data.ts";
import { inventoryChecks } from "./inventory.ts";
import { limitChecks } from "./limits.ts";
import { changingMedicalChecks, medicalChecks } from "./medical.ts";
import { changingPatientChecks, patientChecks } from "./patients.ts";
import { protocolChecks } from "./protocol.ts";
import { Postgres, whyNoPostgres } from "../support/postgres.ts";
import { type Api, foreignServer, keyPlan, ownServer, startOfToday } from "./server.ts";

// npm run conformance: the numbered checks of section 2 of the API guide, over HTTP. It starts servers of its own (from
// dist where VETWIRE_BUILT is set), one on SQLite and one on a PostgreSQL that it starts where the machine has one, or
// checks the one at VETWIRE_URL, on the same UTC day as its data was written:
//   npm run conformance -- data FILE    writes the data to import there, and says which keys it needs
//   VETWIRE_URL=http://... VETWIRE_KEYS=keys.json npm run conformance    with {"ours": "sk_live_...", ...} in the file
// What needs the server's own data folder (an import, a revocation) is then not checked.

const checks = [
  ...protocolChecks,
  ...patientChecks,
  ...medicalChecks,
  ...calendarChecks,
  ...inventoryChecks,
  ...accessChecks,
  ...changingPatientChecks,
  ...changingMedicalChecks,
  ...changingAccessChecks,
  ...limitChecks,
  ...contractChecks,
];

interface Total {
  passed: number;
  failed: number;
}

async function conformance(): Promise<void> {
  const url = process.env["VETWIRE_URL"];
  const total =
    url === undefined
      ? await checkOwn()
      : await checkAll(await foreignServer(url, process.env["VETWIRE_KEYS"] ?? "keys.json"));
  say(told(total));
  if (total.failed > 0) process.exitCode = 1;
}

async function checkOwn(): Promise<Total> {
  const onSqlite = await checkOwnOn("SQLite");
  const noPostgres = whyNoPostgres();
  if (noPostgres !== null) {
    say(`on PostgreSQL: not checked, ${noPostgres}`);
    return onSqlite;
  }
  const postgres = await Postgres.start();
  try {
    const onPostgres = await checkOwnOn("PostgreSQL", postgres.url());
    return { passed: onSqlite.passed + onPostgres.passed, failed: onSqlite.failed + onPostgres.failed };
  } finally {
    await postgres.end();
  }
}

async function checkOwnOn(engine: string, postgresUrl?: string): Promise<Total> {
  const { api, stop } = await ownServer(postgresUrl);
  try {
    const total = await checkAll(api);
    say(`on ${engine}: ${told(total)}`);
    return total;
  } finally {
    await stop();
  }
}

async function checkAll(api: Api): Promise<Total> {
  const total = { passed: 0, failed: 0 };
  for (const check of checks) {
    const outcome = await runCheck(check, api);
    const because = "reason" in outcome ? `: ${outcome.reason.replaceAll(/\s*\n\s*/g, " ")}` : "";
    say(`${outcome.kind.padEnd(11)} ${String(check.number).padStart(3)} ${check.title}${because}`);
    if (outcome.kind === "passed" || outcome.kind === "failed") total[outcome.kind] += 1;
  }
  return total;
}

function told({ passed, failed }: Total): string {
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
    say(`${name}: --clinic ${clinics[clinic]} --type ${type} --permissions ${permissions.join(",")}${then}`);
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

const [command, file] = process.argv.slice(2);
if (command === undefined) await conformance();
else if (command === "data" && file !== undefined) writeData(file);
else throw new Error(`the command is ${process.argv.slice(2).join(" ")}, expected none or data FILE`);
