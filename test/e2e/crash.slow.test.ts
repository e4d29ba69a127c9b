import { expect, test } from "vitest";
import { crashUnderLoad } from "../support/crash.ts";
import { soakCount } from "../support/soak.ts";

// Goal: no acknowledged message is lost or filed twice. Method: four simulated analyzers send without pause while the agent is killed with SIGKILL at
// random moments; at the end every message whose last frame was acknowledged must be exactly one study of its patient.
const KILLS = soakCount(100);

test(`after ${KILLS} kills under load every acknowledged message is exactly one study of the right patient`, {
  timeout: 900_000,
}, async () => {
  const report = await crashUnderLoad(KILLS, Math.random);
  process.stdout.write(`crash: ${JSON.stringify(report)}\n`);
  expect(report).toMatchObject({ lost: [], twice: [], wrongPatient: [] });
  expect(report.acknowledged).toBeGreaterThan(KILLS);
});
