import { defineConfig } from "vitest/config";
import { postgresProblem } from "./support/postgres.ts";

// `npm run check` sets SLOW=0. Only `npm test` runs real processes, pty pairs, crashes, long fuzzing and the second database.
const fast = process.env["SLOW"] === "0";

const noPostgres = fast ? null : postgresProblem();
if (noPostgres !== null) process.stderr.write(`the server's tests do not run on PostgreSQL: ${noPostgres}\n`);

// The machine's zone differs from every zone in the tests, so code that uses the local day in place of the UTC day fails.
const AHEAD_OF_UTC = { TZ: "Pacific/Auckland" };
const BEHIND_UTC = { TZ: "America/New_York" };

const onPostgresOnly = "test/server/store/database/postgres.test.ts";
const onSqliteOnly = "test/server/store/database/sqlite.test.ts";

export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 3,
    // Test files share modules, since importing them again for every file takes longer than the tests.
    isolate: false,
    // In ms; a slow machine must not fail a test.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 90_000, interval: 20 } },
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          env: AHEAD_OF_UTC,
          include: ["test/**/*.test.ts"],
          exclude: ["**/node_modules/**", onPostgresOnly, ...(fast ? ["test/**/*.slow.test.ts"] : [])],
          ...(fast ? {} : { globalSetup: ["test/build.ts"] }),
        },
      },
      ...(fast || noPostgres !== null
        ? []
        : [
            {
              extends: true as const,
              test: {
                name: "postgres",
                env: BEHIND_UTC,
                include: [
                  "test/server/{store,webhooks}/**/*.test.ts",
                  "test/server/routes/smoke.test.ts",
                  "test/server/security/{object-level,property-level,tenants}.test.ts",
                ],
                exclude: [onSqliteOnly, "test/**/*.slow.test.ts"],
                globalSetup: ["test/server/postgres-setup.ts"],
              },
            },
          ]),
    ],
  },
});
