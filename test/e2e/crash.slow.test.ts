import { expect, test } from "vitest";
import { crashUnderLoad } from "../support/crash.ts";

// Goal: promises P2 and P3. Method: four simulated analyzers send without pause while the agent is killed with SIGKILL at
// random moments; at the end every message whose last frame was acknowledged must be exactly one study of its patient.
test("20 kills under load: every acknowledged message is exactly one study of the right patient", {
  timeout: 180_000,
}, async () => {
  const report = await crashUnderLoad(20, Math.random);
  process.stdout.write(`crash: ${JSON.stringify(report)}\n`);
  expect(report).toMatchObject({ lost: [], twice: [], wrongPatient: [] });
  expect(report.acknowledged).toBeGreaterThan(20);
});
