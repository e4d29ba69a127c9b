import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import type { LimitsInUse } from "../../../server/dashboard/types/settings/limits.ts";
import type { ResultsPage, StudyPage } from "../../../server/dashboard/types/results/results.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { makeUser, startDashboard } from "../../dashboard/harness.ts";
import { clinic, connection, patient } from "../../server/harness.ts";
import { bloodCount, MllpClient } from "../../support/protocols/hl7.ts";
import { freePort, until } from "../../support/machine/processes.ts";
import { TestAgent } from "../../support/peers/running-agent.ts";

// Goal: a limit that the clinic's vet accepts reaches the agent's flags of the next result, and the page names it. Method: a server and
// an agent in this process, a device over MLLP.

/** The intervals and limits that an agent keeps, as its spool has them. */
function rangesOf(agent: TestAgent): string {
  const db = new Database(path.join(agent.folder, "data", "spool.db"), { readonly: true });
  const kept = db.prepare("SELECT value FROM meta WHERE key = 'ranges'").pluck().get();
  db.close();
  return String(kept);
}

test("a limit that a vet accepts makes the next result of an agent critical, until it is withdrawn", async () => {
  const ours = newFp("clinic");
  const dog = patient({ name: "Karabaş", species: "dog", external_ids: ["4711"] });
  const server = await startDashboard(clinic(ours), dog, connection(dog.fp, ours));
  const admin = await makeUser(server, "admin", ours);
  // Syncs of the agent are ten times as frequent.
  vi.stubEnv("VETWIRE_HURRY", "10");
  const agent = new TestAgent();
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await agent.close();
  });
  const key = await server.makeKey(ours, ["clinic.patient.view", "clinic.lab.ingest", "clinic.calendar.view"]);
  fs.writeFileSync(path.join(agent.folder, "agent.key"), `${key}\n`, { mode: 0o600 });
  const port = await freePort();
  await agent.runWith(server.url, [
    { id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } },
  ]);
  const data = path.join(agent.folder, "data");
  await until("the agent has fetched the dog", () =>
    readSpool(data, (db) => db.prepare("SELECT 1 FROM identifier").pluck().get()),
  );

  const decide = async (...ids: string[]) => {
    const { version: replaces } = (await admin.call<LimitsInUse>("GET", "/ranges/limits")).body;
    const decided = await admin.call<LimitsInUse>("PUT", "/ranges/limits", { ids, by: "Dr. Ada", replaces });
    const { version } = decided.body;
    await until("the agent has the decision", () => rangesOf(agent).includes(version ?? ""));
  };
  let runs = 0;
  /** Counts the platelets. @returns the row of the page */
  const count = async (platelets: number) => {
    runs += 1;
    const measured = `202611210${runs}0000`;
    const segments = bloodCount({ id: `M-${runs}`, patient: "4711", measured, wbc: 9 }).map((segment) =>
      segment.replace("||318|", `||${platelets}|`).replace("S-1", `S-${runs}`),
    );
    const device = await MllpClient.connect(port);
    await device.exchange(segments);
    const fp = await until("the study is filed", async () => {
      const { items } = (await admin.call<ResultsPage>("GET", "/results")).body;
      return items.length === runs ? items[0]!.fp : null;
    });
    device.close();
    const page = (await admin.call<StudyPage>("GET", `/results/${fp}`)).body;
    const served = (await server.get(key, `/api/v1/lab/diagnostics/${fp}`)).body;
    expect(JSON.stringify(served)).not.toContain("Ada");
    return page.rows.find(({ analyte }) => analyte === "PLT");
  };

  expect(await count(22)).toMatchObject({ flag: "low" });
  await decide("dog-plt-vcog");
  const limited = await count(22);
  expect(limited).toMatchObject({
    flag: "critical",
    side: "low",
    limit: { text: "< 25 ×10⁹/L", by: "Dr. Ada", at: new Date(server.clock.now).toISOString() },
  });
  expect(limited?.limit?.source).toContain("VCOG-CTCAE");
  // Strictly beyond.
  expect((await count(25))?.flag).toBe("low");
  await decide();
  expect(await count(22)).toMatchObject({ flag: "low" });
});
