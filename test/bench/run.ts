import { api } from "./api.ts";
import { astm } from "./astm.ts";
import { dashboard } from "./dashboard.ts";
import { dicom } from "./dicom.ts";
import { print } from "./figure.ts";
import { hl7 } from "./hl7.ts";
import { idle } from "./idle.ts";
import { many } from "./many.ts";
import { poct1a } from "./poct1a.ts";
import { quality } from "./quality.ts";
import { timedTasks } from "./tasks.ts";

// npm run bench -- NAME [--quick] prints each figure next to its baseline from the same run. Exits 1 if a figure misses its bar.

const benches = { astm, hl7, poct1a, dicom, api, dashboard, many, idle, quality, tasks: timedTasks };

function isBench(name: string | undefined): name is keyof typeof benches {
  return name !== undefined && Object.hasOwn(benches, name);
}

const args = process.argv.slice(2);
const name = args.find((arg) => !arg.startsWith("--"));
if (!isBench(name)) {
  process.stderr.write(`expected the name of a bench (${Object.keys(benches).join(", ")}), got ${name ?? "none"}\n`);
  process.exit(1);
}
let missed = 0;
for await (const figure of benches[name](args.includes("--quick"))) {
  print(figure);
  if (!figure.met) missed += 1;
}
process.stdout.write(missed === 0 ? "every figure meets its bar\n" : `${missed} missed\n`);
process.exit(missed === 0 ? 0 : 1);
