import { expect, test } from "vitest";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import type { AnalyteChoice, CodeList } from "../../../../server/dashboard/types/results/codes.ts";
import { analytes } from "../../../../shared/clinical/analytes/analytes.ts";
import { startServer } from "../../../server/harness.ts";
import { clinicEntities, ours, pushTo, theirs, unknownCode } from "../../unmatched-clinic.ts";
import { makeUser } from "../../harness.ts";

// Goal: the clinic maps codes of its devices to analytes, and its agents fetch the mappings.

async function codes(...studies: PushedStudy[]) {
  const server = await startServer(...clinicEntities);
  const staff = await makeUser(server, "staff", ours);
  await pushTo(server, ours, ...studies);
  const map = (analyte: string | null, code = "413") =>
    staff.call<CodeList & { error?: { message: string } }>("PUT", "/codes", { device_id: "chem-1", code, analyte });
  const fetched = async (clinicFp: string) => {
    const key = await server.makeKey(clinicFp, ["clinic.lab.ingest"]);
    const response = await server.app.inject({ url: "/agent/v1/codes", headers: { "x-api-key": key } });
    return [response.statusCode, response.json<{ data: unknown }>().data];
  };
  return { server, staff, map, fetched };
}

test("a code is mapped, fetched by the clinic's agents alone, and unmapped", async () => {
  const { server, staff, map, fetched } = await codes(unknownCode());
  expect((await staff.call<CodeList>("GET", "/codes")).body).toMatchObject({
    unknown: [{ device_id: "chem-1", code: "413", label: null, unit: "mg/dL", value: "118", studies: 1 }],
    mapped: [],
  });
  const { status, body } = await map("GLU");
  expect([status, body.unknown]).toEqual([200, []]);
  expect(body.mapped).toMatchObject([{ code: "413", analyte: "GLU", by: staff.name, seen: { value: "118" } }]);
  expect(await fetched(ours)).toEqual([200, [{ device_id: "chem-1", code: "413", analyte: "GLU" }]]);
  expect(await fetched(theirs)).toEqual([200, []]);
  const key = await server.makeKey(ours, ["clinic.lab.view"]);
  const refused = await server.app.inject({ url: "/agent/v1/codes", headers: { "x-api-key": key } });
  expect(refused.statusCode).toBe(403);
  expect((await map(null)).body.unknown).toMatchObject([{ code: "413" }]);
  expect(await fetched(ours)).toEqual([200, []]);
});

test("a mapping is not replaced unseen, and a wrong analyte and a foreign code are refused", async () => {
  const { server, staff, map } = await codes(unknownCode());
  const messages = async (analyte: string | null, code?: string) => {
    const { status, body } = await map(analyte, code);
    return `${status} ${body.error?.message}`;
  };
  expect(await messages("NOSUCH")).toBe("400 analyte is not in the catalogue.");
  expect(await messages("GLU", "999")).toBe("404 This code does not exist.");
  await map("GLU");
  expect(await messages("CREA")).toBe(`409 ${staff.name} mapped this code to GLU meanwhile.`);
  const stranger = await makeUser(server, "staff", theirs);
  const path = "/codes/analytes?device_id=chem-1&code=413";
  expect((await stranger.call("GET", path)).status).toBe(404);
  expect((await stranger.call("PUT", "/codes", { device_id: "chem-1", code: "413", analyte: null })).status).toBe(404);
  const reader = await makeUser(server, "reader", ours);
  expect((await reader.call("GET", path)).status).toBe(200);
  expect((await reader.call("PUT", "/codes", { device_id: "chem-1", code: "413", analyte: null })).status).toBe(403);
});

test("the analytes of the code's unit come first, the nearest names before the others", async () => {
  const { staff } = await codes(
    unknownCode({ code: "Glukose" }),
    unknownCode({ code: "X9", unit: null, word: "Positive" }),
  );
  const choices = async (code: string) => {
    const path = `/codes/analytes?device_id=chem-1&code=${code}`;
    return (await staff.call<{ analytes: AnalyteChoice[] }>("GET", path)).body.analytes;
  };
  const ofGlucose = await choices("Glukose");
  expect(ofGlucose).toHaveLength(analytes.length);
  expect(ofGlucose[0]).toEqual({ code: "GLU", name: "Glucose", specimen: "blood", unit: "mg/dL", fits: true });
  const last = ofGlucose.findLastIndex(({ fits }) => fits);
  expect(ofGlucose.slice(0, last).every(({ fits }) => fits)).toBe(true);
  expect(ofGlucose.find(({ code }) => code === "WBC")?.fits).toBe(false);
  const kinds = new Map(analytes.map(({ code, value_type }) => [code, value_type]));
  const ofWord = (await choices("X9")).filter(({ fits }) => fits);
  expect(ofWord.length).toBeGreaterThan(5);
  expect(ofWord.filter(({ code }) => kinds.get(code) === "numeric")).toEqual([]);
});
