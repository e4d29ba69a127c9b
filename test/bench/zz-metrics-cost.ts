import path from "node:path";
import { fill, fpOf } from "./api/data.ts";
import { requestsPerSecond } from "./api/load.ts";
import { median } from "./figure.ts";
import { listens } from "./api/server.ts";
import { ROOT, runServerCommand, start, temporaryFolder } from "../support/processes.ts";
const folder = temporaryFolder();
const data = path.join(folder, "data");
await fill(data, { clinics: 1, patients: 2000, studies: 0 });
const key = runServerCommand(
  "keys",
  "create",
  "--clinic",
  fpOf("clinic", 1),
  "--name",
  "b",
  "--permissions",
  "clinic.patient.view",
  "--data",
  data,
).trim();
const server = path.join(ROOT, "dist/server/main.js");
const limit = ["--rate-limit", "integration=999999999/999999999"];
const off = start(server, ["run", "--port", "0", "--data", data, ...limit]);
const offUrl = await listens(off);
const on = start(server, ["run", "--port", "0", "--data", data, ...limit, "--metrics", "0"]);
const { until } = await import("../support/processes.ts");
const onUrl = await until("on", () => /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(on.output())?.[1]);
const { execFileSync } = await import("node:child_process");
execFileSync("taskset", ["-acp", "0", String(on.process.pid)]);
const load = (url: string) => ({
  url,
  paths: [`/api/v1/patients/${fpOf("patient", 1)}`],
  headers: { "x-api-key": key },
  status: 200 as const,
});
const ratios: number[] = [],
  offs: number[] = [],
  ons: number[] = [];
for (let i = 0; i < 24; i++) {
  const first = i % 2 === 0;
  const a = await requestsPerSecond(load(first ? offUrl : onUrl), 2);
  const b = await requestsPerSecond(load(first ? onUrl : offUrl), 2);
  const [o, n] = first ? [a, b] : [b, a];
  if (i > 1) {
    offs.push(o);
    ons.push(n);
    ratios.push(n / o);
  }
}
console.log("off", median(offs), "on", median(ons), "ratio", median(ratios), ratios.map((r) => r.toFixed(2)).join(" "));
await off.end("SIGKILL");
await on.end("SIGKILL");
process.exit(0);
