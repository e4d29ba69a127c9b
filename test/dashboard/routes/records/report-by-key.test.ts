import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { ownerId, storeOwnerFacts } from "../../../../server/records/registry/owners.ts";
import { setClinicSettings } from "../../../../server/records/clinics/clinics.ts";
import { makeUser } from "../../harness.ts";
import { chemistry, resultsClinic } from "../../results-clinic.ts";
import {
  connection,
  importEntities,
  keyPermissions,
  noon,
  patient,
  startServer,
  study,
  temporaryFolder,
} from "../../../server/harness.ts";

// The PDF of a study by key, beside the dashboard's own.

const noPoppler = existsSync("/usr/bin/pdftotext") ? null : "pdftotext is missing (Debian: apt install poppler-utils)";
if (noPoppler !== null) process.stderr.write(`the text of PDF files is not tested: ${noPoppler}\n`);

function textOf(pdf: Buffer): string {
  const file = join(temporaryFolder(), "report.pdf");
  writeFileSync(file, pdf);
  return execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" });
}

async function world() {
  const names = resultsClinic();
  const server = await startServer(...names.entities);
  const key = await server.makeKey(names.ours, keyPermissions);
  const filed = chemistry(names.dog);
  await server.push(key, filed);
  const get = async (fp: string, { query = "", ...headers }: Record<string, string> = {}) =>
    server.app.inject({
      url: `/api/v1/lab/diagnostics/${fp}/report.pdf${query}`,
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
  const codeOf = async (fp: string) => {
    const response = await get(fp);
    const { error } = response.json<{ error: { code: string; details?: { code?: string } } }>();
    return [response.statusCode, error.code, ...(error.details?.code === undefined ? [] : [error.details.code])];
  };
  return { ...names, server, key, filed, get, codeOf };
}

describe.skipIf(noPoppler !== null)("the text of a report by key", () => {
  test("is that of the dashboard's report without the owner, in the clinic's zone and the asked language", async () => {
    const { server, ours, dog, filed, get } = await world();
    const { store } = server;
    await store.transaction(async (session) => {
      await setClinicSettings(session, 1, { language: "tr", time_zone: "Europe/Istanbul" });
      const id = await ownerId(session, dog.owner_customer_fp);
      await storeOwnerFacts(session, id, { name: "Ayşe Yılmaz", phone: "+90 555 000" }, { batch: null });
    });
    const user = await makeUser(server, "reader", ours);
    const dashboard = await server.app.inject({
      url: `/clinic/v1/clinics/${ours}/results/${filed.fp}/report.pdf?language=tr&zone=Europe/Istanbul`,
      headers: { cookie: user.cookie },
    });
    const shown = textOf(dashboard.rawPayload);
    expect(shown).toContain("Ayşe Yılmaz");
    const response = await get(filed.fp);
    expect(response.headers["content-disposition"]).toBe(dashboard.headers["content-disposition"]);
    expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "application/pdf"]);
    const text = textOf(response.rawPayload);
    expect(text).not.toMatch(/Ayşe|90 555/);
    // The owner's column shifts the others.
    const words = (lines: string) => lines.split(/\s+/).toSorted();
    expect([...words(text), ..."Sahibi Ayşe Yılmaz +90 555 000".split(" ")].toSorted()).toEqual(words(shown));
    expect(textOf((await get(filed.fp, { query: "?language=en" })).rawPayload)).toContain("Laboratory report");
  });
});

test("the report has an ETag of its facts, which gives 304 until they change", async () => {
  const { server, key, filed, get } = await world();
  const first = await get(filed.fp);
  const etag = String(first.headers["etag"]);
  expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
  // A report that is made later differs in the time at which it was made, and in nothing else.
  server.clock.now += 60_000;
  const again = await get(filed.fp, { "if-none-match": etag });
  expect([again.statusCode, again.body, again.headers["etag"]]).toEqual([304, "", etag]);
  expect(again.headers).toMatchObject({
    "cache-control": "private, no-cache",
    "x-ratelimit-limit": expect.any(String) as string,
  });
  expect((await get(filed.fp, { query: "?language=tr", "if-none-match": etag })).statusCode).toBe(200);
  await server.push(key, { ...filed, revision: 2, device_name: "Other" });
  expect((await get(filed.fp, { "if-none-match": etag })).statusCode).toBe(200);
});

test("the ETag stays when something changes that the report does not show: the name of an animal that had the study before", async () => {
  const { server, ours, dog, filed, get } = await world();
  const other = patient();
  await importEntities(server.store, other, connection(other.fp, ours));
  const staff = await makeUser(server, "staff", ours);
  const moved = await staff.call("POST", `/results/${filed.fp}/move`, {
    ...{ revision: 1, patient_fp: other.fp, reason: "the wrong dog" },
  });
  expect(moved.status).toBe(200);
  const etag = String((await get(filed.fp)).headers["etag"]);
  await importEntities(server.store, { ...dog, name: "Another name", updated_at: new Date(noon + 1).toISOString() });
  expect((await get(filed.fp, { "if-none-match": etag })).statusCode).toBe(304);
  await importEntities(server.store, { ...other, name: "New name", updated_at: new Date(noon + 1).toISOString() });
  expect((await get(filed.fp, { "if-none-match": etag })).statusCode).toBe(200);
});

test("a HEAD request has the headers of the report, also of one that the client has", async () => {
  const { server, key, filed, get } = await world();
  const { headers } = await get(filed.fp);
  const head = async (more: Record<string, string>) =>
    server.app.inject({
      method: "HEAD",
      url: `/api/v1/lab/diagnostics/${filed.fp}/report.pdf`,
      headers: { authorization: `Bearer ${key}`, ...more },
    });
  const plain = await head({});
  expect([plain.statusCode, plain.headers["etag"], plain.body]).toEqual([200, headers["etag"], ""]);
  expect((await head({ "if-none-match": String(headers["etag"]) })).statusCode).toBe(304);
});

test("a study that the clinic may not share is refused with the dashboard's code, and one of others as the study is", async () => {
  const { server, ours, dog, key, filed, codeOf } = await world();
  const waiting = study();
  await server.push(key, waiting);
  expect(await codeOf(waiting.fp)).toEqual([409, "RECORD.REFUSED", "SHARE.UNMATCHED"]);
  const staff = await makeUser(server, "staff", ours);
  await staff.call("POST", `/unmatched/${waiting.fp}/reject`, { reason: "a control", revision: 1 });
  expect(await codeOf(waiting.fp)).toEqual([409, "RECORD.REFUSED", "SHARE.REJECTED"]);
  const wanted = { patient_fp: dog.fp, device: null, panel: null, tests: ["ALT", "CHOL"] };
  const { body: order } = await staff.call<{ fp: string }>("POST", "/orders", wanted);
  const tied = { ...chemistry(dog), fp: newFp("cds") };
  await server.push(key, tied);
  await staff.call("POST", `/orders/${order.fp}/attach`, { study_fp: tied.fp });
  expect(await codeOf(tied.fp)).toEqual([409, "RECORD.REFUSED", "SHARE.PENDING"]);
  // The same revision with another body contradicts the study.
  await server.push(key, { ...filed, device_name: "Another device" });
  expect(await codeOf(filed.fp)).toEqual([409, "RECORD.REFUSED", "SHARE.CONFLICT"]);
  const stranger = patient();
  const other = newFp("clinic");
  await importEntities(
    server.store,
    { type: "clinic", fp: other, name: "Other" },
    stranger,
    connection(stranger.fp, other),
  );
  const theirs = study({ patient_fp: stranger.fp });
  await server.push(await server.makeKey(other, keyPermissions), theirs);
  expect(await codeOf(theirs.fp)).toEqual([403, "PATIENT.ACCESS_DENIED"]);
  expect(await codeOf(newFp("cds"))).toEqual([404, "PATIENT.NOT_FOUND"]);
  expect(await codeOf("nothing")).toEqual([404, "PATIENT.NOT_FOUND"]);
});
