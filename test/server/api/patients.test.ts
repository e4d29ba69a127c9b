import { describe, expect, test } from "vitest";
import { buildApp } from "../../../server/app.ts";
import type { Store } from "../../../server/database/store.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, connection, patient, startServer } from "../harness.ts";

const ours = newFp("clinic");

describe("GET /api/v1/patients/{fp}", () => {
  test("an fp in the wrong case gets 404 with the format of an fp, without a database query", async () => {
    const one = patient();
    const server = await startServer(clinic(ours), one, connection(one.fp, ours));
    const key = await server.makeKey(ours, ["clinic.patient.view"]);
    let asked = 0;
    const counting: Store = {
      ...server.store,
      first: async (...question) => {
        asked += 1;
        return server.store.first(...question);
      },
    };
    const app = buildApp(counting, { pepper: server.pepper });
    const headers = { "x-api-key": key };
    const read = async (fp: string) => {
      const before = asked;
      const response = await app.inject({ url: `/api/v1/patients/${fp}`, headers });
      return { response, questions: asked - before };
    };
    await read(one.fp);
    // Servers that share a database query the versions of the key.
    const unknown = await read(newFp("patient"));
    for (const fp of [one.fp.toUpperCase(), one.fp.toLowerCase(), one.fp.replace("patient_", "Patient_")]) {
      const { response, questions } = await read(fp);
      expect(questions).toBe(unknown.questions - 1);
      expect([response.statusCode, response.json()]).toEqual([
        404,
        {
          success: false,
          error: {
            code: "PATIENT.NOT_FOUND",
            message: `Patient ${fp} does not exist.`,
            severity: "error",
            details: {
              parameter: "fp",
              value: fp,
              rule: "patient_ and a ULID of 26 digits and upper-case letters; fps are case-sensitive",
            },
          },
        },
      ]);
    }
    await app.close();
  });
});
