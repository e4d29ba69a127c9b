import { crashUnderLoad } from "./support/machine/crash.ts";

// npm run test:crash -- --cycles 500: the crash test of the suite with a chosen number of kills.

const index = process.argv.indexOf("--cycles");
const cycles = index < 0 ? 100 : Number(process.argv[index + 1]);
if (!Number.isInteger(cycles) || cycles < 1) {
  process.stderr.write("--cycles: expected a positive integer\n");
  process.exit(1);
}
const report = await crashUnderLoad(cycles, Math.random, (cycle) => {
  if (cycle % 10 === 0) process.stderr.write(`${cycle} of ${cycles} kills\n`);
});
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
const failed = report.lost.length + report.twice.length + report.wrongPatient.length;
process.exit(failed === 0 && report.acknowledged > 0 ? 0 : 1);
