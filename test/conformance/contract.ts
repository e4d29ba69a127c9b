import assert from "node:assert/strict";
import { endpoints } from "./endpoints.ts";
import type { ApiCheck } from "./read.ts";

// Looks back at the answers of all other checks, and so is the last one.

export const contractChecks: readonly ApiCheck[] = [
  {
    number: 148,
    title: "every answer was as the served OpenAPI document says, and every documented status was met",
    async run(api) {
      const { contract, breaches } = api;
      assert.ok(contract, "no document at /openapi.json");
      for (const { path } of endpoints) {
        const folder = /^(.*\/)[a-z]+_\w+$/.exec(path)?.[1];
        const faulty = folder === undefined ? [`${path}?page=0&type=x`] : [`${folder}%zz`, folder + "x".repeat(5000)];
        for (const each of faulty) await api.get(each);
      }
      assert.deepEqual(breaches.slice(0, 20), [], `${breaches.length} answers`);
      // No client can bring a fault of the server about: test/server/openapi.test.ts does.
      const missing = contract.missing.filter((status) => !/ (500|503)$/.test(status));
      assert.deepEqual(missing, [], "documented statuses that were not met");
    },
  },
];
