import { defineConfig } from "vitest/config";

// `npm run check` sets SLOW=0: real processes, pty pairs, crashes and long fuzzing are left to `npm test`.
const fast = process.env["SLOW"] === "0";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: fast ? ["test/**/*.slow.test.ts"] : [],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    ...(fast ? {} : { globalSetup: ["test/build.ts"] }),
  },
});
