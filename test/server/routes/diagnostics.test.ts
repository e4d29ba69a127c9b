import { describe, expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, connection, formOf, importEntities, keyPermissions, patient, startServer, study } from "../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

describe("GET /api/v1/lab/diagnostics/{fp}", () => {
  test("a pushed study has exactly the documented fields, for every connected clinic", async () => {
    const one = patient();
    const server = await startServer([
      clinic(ours),
      clinic(theirs),
      one,
      connection(one.fp, ours),
      connection(one.fp, theirs),
    ]);
    const key = await server.makeKey(ours, keyPermissions);
    const pushed = study({ patient_fp: one.fp });
    await server.push(key, pushed);
    const { revision: _r, dedupe_key: _d, source: _s, patient_hint: _h, ...expected } = pushed;
    for (const reader of [key, await server.makeKey(theirs, ["clinic.lab.view"])]) {
      const { status, body } = await server.get(reader, `/api/v1/lab/diagnostics/${pushed.fp}`);
      expect([status, body]).toEqual([200, { success: true, data: expected }]);
    }
  });

  test("an imported study and an imaging study have an empty list of results", async () => {
    const one = patient();
    const { revision: _r, dedupe_key: _d, source: _s, patient_hint: _h, ...image } = study({ modality: "RADIOLOGY" });
    const imported = { ...image, patient_fp: one.fp, results: [] };
    const server = await startServer(clinic(ours), one, connection(one.fp, ours), { type: "study", ...imported });
    const key = await server.makeKey(ours, ["clinic.patient.view"]);
    const { body } = await server.get(key, `/api/v1/lab/diagnostics/${imported.fp}`);
    expect(body).toEqual({ success: true, data: imported });
  });

  test("unknown, malformed and unmatched studies, and those of a deleted patient, get 404", async () => {
    const one = patient();
    const server = await startServer(clinic(ours), one, connection(one.fp, ours));
    const key = await server.makeKey(ours, keyPermissions);
    const [filed, held] = [study({ patient_fp: one.fp }), study()];
    await server.push(key, filed, held);
    await importEntities(server.store, { ...one, deleted_at: "2026-11-21T00:00:00.000Z" });
    for (const fp of [newFp("cds"), one.fp, "x", held.fp, filed.fp]) {
      const { status, body } = await server.get(key, `/api/v1/lab/diagnostics/${fp}`);
      expect([fp, status]).toEqual([fp, 404]);
      expect(body).toEqual({
        success: false,
        error: {
          code: "PATIENT.NOT_FOUND",
          message: `Diagnostic study ${fp} does not exist.`,
          severity: "error",
          ...formOf("cds", fp),
        },
      });
    }
  });

  test("a clinic with a closed connection gets 403", async () => {
    const one = patient();
    const server = await startServer(clinic(ours), one, connection(one.fp, ours));
    const key = await server.makeKey(ours, keyPermissions);
    const pushed = study({ patient_fp: one.fp });
    await server.push(key, pushed);
    await importEntities(server.store, connection(one.fp, ours, false));
    const { status, body } = await server.get(key, `/api/v1/lab/diagnostics/${pushed.fp}`);
    expect([status, body.error.code, body.error.severity]).toEqual([403, "PATIENT.ACCESS_DENIED", "error"]);
    expect(JSON.stringify(body)).not.toContain(one.fp);
  });
});
