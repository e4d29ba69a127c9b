import { expect, test } from "vitest";
import { crashUnderLoad } from "../../support/machine/crash.ts";
import { soakCount } from "../../support/runner/soak.ts";

// Goal: no acknowledged message is lost or filed twice. Method: four simulated analyzers send results and controls without pause while
// SIGKILL ends the agent, and sometimes the server, at random moments. At the end every message with an acknowledged last frame is
// exactly one study of its patient, or one control.
const KILLS = soakCount(100);

test(`every acknowledged message is exactly one study of the right patient, or one control, after ${KILLS} kills under load`, {
  timeout: 900_000,
}, async () => {
  const report = await crashUnderLoad(KILLS, Math.random);
  process.stdout.write(`crash: ${JSON.stringify(report)}\n`);
  expect(report).toMatchObject({ lost: [], twice: [], wrongPatient: [] });
  expect(report.acknowledged).toBeGreaterThan(KILLS);
  expect(report.controls).toBeGreaterThan(KILLS / 4);
});
