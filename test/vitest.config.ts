import { mkdtempSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { WAIT_MS } from "./support/runner/patience.ts";
import { postgresProblem } from "./support/machine/postgres.ts";
import { slowestFiles } from "./support/runner/slowest-files.ts";

// `npm run check` sets SLOW=0: no real processes, pty pairs, crashes, long fuzzing or second database, which `npm test` adds.
// `npm run test:long` sets LONG=1 and runs the long proofs alone; `npm run test:all` sets ALL=1 and runs everything in full size.
const fast = process.env["SLOW"] === "0";
const long = process.env["LONG"] === "1";
const all = process.env["ALL"] === "1";
const withLong = long || all;

const noPostgres = fast ? null : postgresProblem();
if (noPostgres !== null) process.stderr.write(`the server's tests do not run on PostgreSQL: ${noPostgres}\n`);

// The machine's zone differs from every zone in the tests, so code that uses the local day in place of the UTC day fails.
const AHEAD_OF_UTC = { TZ: "Pacific/Auckland" };
const BEHIND_UTC = { TZ: "America/New_York" };

/** The programs of the tests start hundreds of times, and Node compiles them once. */
const WITH_COMPILED_PROGRAMS = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url)),
};

/** Tests that stop no process keep their files in memory: they wait for nothing when a disk would. Slow tests use the disk. */
const IN_MEMORY = memoryFolder("/dev/shm");

/** Makes a folder in memory, which ends with the run: not every test removes its files. */
function memoryFolder(memory: string): { TMPDIR?: string } {
  try {
    const own = mkdtempSync(`${memory}/vetwire-tests-`);
    process.once("exit", () => rmSync(own, { recursive: true, force: true }));
    return { TMPDIR: own };
  } catch {
    return {};
  }
}

const onPostgresOnly = "test/server/database/postgres.test.ts";
const onBothEngines = [
  "test/server/{database,operator,records}/**/*.test.ts",
  "test/server/operations/webhooks/*.test.ts",
  "test/server/operations/lease.test.ts",
  "test/server/api/smoke.test.ts",
  "test/server/fhir/search.test.ts",
  "test/server/oidc/{sign-in,logout,operator}.test.ts",
];
const onSqliteOnly = "test/server/database/sqlite.test.ts";

export default defineConfig({
  test: {
    pool: "forks",
    // Two cores: the slow tests wait for programs and disks half of their time. Long ones use whole systems (wine, clusters).
    maxWorkers: withLong ? 3 : 4,
    // Test files share modules, since importing them again for every file takes longer than the tests.
    isolate: false,
    setupFiles: ["test/support/runner/property-seed.ts"],
    testTimeout: WAIT_MS,
    hookTimeout: WAIT_MS,
    expect: { poll: { timeout: WAIT_MS, interval: 20 } },
    reporters: ["default", slowestFiles],
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          env: { ...AHEAD_OF_UTC, ...IN_MEMORY, ...WITH_COMPILED_PROGRAMS },
          include: long ? [] : ["test/**/*.test.ts"],
          exclude: ["**/node_modules/**", onPostgresOnly, "test/**/*.{slow,long}.test.ts"],
        },
      },
      ...(fast
        ? []
        : [
            {
              extends: true as const,
              test: {
                name: "slow",
                env: { ...AHEAD_OF_UTC, ...WITH_COMPILED_PROGRAMS },
                include: [...(long ? [] : ["test/**/*.slow.test.ts"]), ...(withLong ? ["test/**/*.long.test.ts"] : [])],
                globalSetup: ["test/build.ts"],
              },
            },
          ]),
      ...(fast || noPostgres !== null
        ? []
        : [
            {
              extends: true as const,
              test: {
                name: "postgres",
                env: { ...BEHIND_UTC, ...IN_MEMORY, ...WITH_COMPILED_PROGRAMS },
                include: [
                  ...(long ? [] : onBothEngines),
                  ...(withLong ? ["test/server/records/changes/mirror.long.test.ts"] : []),
                  // They try each route, whose rules are the same on both engines.
                  ...(all ? ["test/server/security/{object-level,property-level}.test.ts"] : []),
                ],
                exclude: [
                  onSqliteOnly,
                  // Bad receivers, and each route of the console: the engine makes no difference.
                  "test/server/operations/webhooks/hostile.test.ts",
                  "test/server/operator/no-data.test.ts",
                  "test/**/*.slow.test.ts",
                  `test/**/${withLong ? "!(mirror)" : "*"}.long.test.ts`,
                ],
                globalSetup: ["test/server/postgres-setup.ts"],
              },
            },
          ]),
    ],
  },
});
