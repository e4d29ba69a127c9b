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
import { foreignServer, keyPlan, ownServer, startOfToday } from "./server.ts";

// npm run conformance: the numbered checks of section 2 of the API guide, over HTTP. It starts a server of its own (from
// dist where VETWIRE_BUILT is set), or checks the one at VETWIRE_URL, on the same UTC day as its data was written:
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

async function conformance(): Promise<void> {
  const url = process.env["VETWIRE_URL"];
  const { api, stop } =
    url === undefined
      ? await ownServer()
      : { api: await foreignServer(url, process.env["VETWIRE_KEYS"] ?? "keys.json"), stop: async () => undefined };
  const total = { passed: 0, failed: 0 };
  try {
    for (const check of checks) {
      const outcome = await runCheck(check, api);
      const because = "reason" in outcome ? `: ${outcome.reason.replaceAll(/\s*\n\s*/g, " ")}` : "";
      say(`${outcome.kind.padEnd(11)} ${String(check.number).padStart(3)} ${check.title}${because}`);
      if (outcome.kind === "passed" || outcome.kind === "failed") total[outcome.kind] += 1;
    }
  } finally {
    await stop();
  }
  say(`${total.passed} passed, ${total.failed} failed`);
  if (total.failed > 0) process.exitCode = 1;
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
