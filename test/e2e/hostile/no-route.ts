import { failureOf, OUTGOING } from "../../support/clinic/outgoing.ts";

// Runs in a network without any route. Prints the failure of every outgoing connection to each host of the command line.

const failures: Record<string, string> = {};
for (const host of process.argv.slice(2)) {
  for (const name of Object.keys(OUTGOING)) {
    for (const scheme of ["http", "https"] as const) {
      // Simultaneous, as retries and the test button are.
      const both = [1, 2].map(() => failureOf(name, { host, port: 4443 }, scheme));
      failures[`${name} ${scheme} ${host}`] = [...new Set(await Promise.all(both))].join(" | ");
    }
  }
}
// For an error that comes late.
await new Promise((resolve) => setTimeout(resolve, 500));
process.stdout.write(JSON.stringify(failures));
