import { defineConfig } from "vitest/config";

// `npm run check` sets SLOW=0: real processes, pty pairs, crashes and long fuzzing are left to `npm test`.
const fast = process.env["SLOW"] === "0";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: fast ? ["test/**/*.slow.test.ts"] : [],
    pool: "forks",
    maxWorkers: 2,
    // Tests share no state but what they import, and importing anew for every file takes longer than the tests.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    ...(fast ? {} : { globalSetup: ["test/build.ts"] }),
  },
});
