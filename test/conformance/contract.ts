import assert from "node:assert/strict";
import { endpoints } from "./endpoints.ts";
import type { ApiCheck } from "./read.ts";

// The contract: looks at the responses to all other checks, so it runs last.

export const contractChecks: readonly ApiCheck[] = [
  {
    number: 148,
    title: "every response matches the served OpenAPI document, and every documented status occurs",
    async run(api) {
      const { contract, breaches } = api;
      assert.ok(contract, "expected a document at /openapi.json, got none");
      for (const { path } of endpoints) {
        const folder = /^(.*\/)[a-z]+_\w+$/.exec(path)?.[1];
        const faulty =
          folder === undefined ? [`${path}?page=0&page_size=0&type=x`] : [`${folder}%zz`, folder + "x".repeat(5000)];
        for (const each of faulty) await api.get(each);
      }
      assert.deepEqual(breaches.slice(0, 20), [], `${breaches.length} responses do not match the document`);
      // No client can cause a fault of the server; test/server/http/openapi/document.test.ts checks those statuses.
      const missing = contract.missing.filter((status) => !/ (500|503)$/.test(status));
      assert.deepEqual(missing, [], "documented statuses that did not occur");
    },
  },
];
