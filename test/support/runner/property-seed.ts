import { configureGlobal } from "fast-check";

// `npm test` draws the same examples each time, so that a change alone decides whether it passes. `npm run test:all` and
// `test:long` draw new ones, and print the seed and the example of a failure.

const NPM_TEST_SEED = 20_261_130;

if (process.env["ALL"] !== "1" && process.env["LONG"] !== "1") configureGlobal({ seed: NPM_TEST_SEED });
