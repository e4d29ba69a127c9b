import { afterEach, beforeEach, expect, test } from "vitest";
import { createServerClient } from "../../../agent/push/server-client.ts";
import type { ClinicCode } from "../../../agent/spool/queries/clinic-codes.ts";
import { readContext } from "../../../agent/study/assess.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { codeList } from "../../../agent/tools/offline/code-list.ts";
import { type FilingClinic, resultsOf, useFilingClinic } from "../../support/clinic/filing-clinic.ts";
import { scriptedServer } from "../../support/peers/scripted-server.ts";
import { useSpool } from "../../support/spool.ts";
import { HEADER, resultRecord } from "../records.ts";
import { astmDevice } from "../../support/clinic/profiles.ts";

const genericAstm = astmDevice("generic-astm");

// Goal: the agent fetches the analytes that the clinic chose in the dashboard, keeps them, and applies them to later messages.

const used = useSpool();
let clinic: FilingClinic;
useFilingClinic((created) => (clinic = created));

let server: Awaited<ReturnType<typeof scriptedServer>>;
/** undefined for a server without the route. */
let codes: unknown;

beforeEach(async () => {
  codes = undefined;
  server = await scriptedServer(({ url }) => {
    if (url === "/agent/v1/codes" && codes !== undefined) return { status: 200, body: { success: true, data: codes } };
    const page = { status: 200, body: { data: { items: [], total: 0, has_more: false } } };
    return url.startsWith("/api/v1/patients") ? page : { status: 404 };
  });
});

afterEach(() => server.close());

const directory = () =>
  new Directory(
    used.spool,
    createServerClient(server.url, () => "sk_live_test"),
  );

const glucose: ClinicCode = { device_id: "chem-1", code: "413", analyte: "GLU" };

test("the clinic's codes are stored and follow the server's, and a server without the route removes none", async () => {
  const own = directory();
  expect(await own.codes()).toEqual([]);
  codes = [glucose];
  await own.sync();
  expect(await own.codes()).toEqual([glucose]);
  expect(await directory().codes()).toEqual([glucose]);
  codes = undefined;
  await own.sync();
  expect(await directory().codes()).toEqual([glucose]);
  codes = [];
  await own.sync();
  expect(await own.codes()).toEqual([]);
  expect(await directory().codes()).toEqual([]);
});

test("an invalid list changes nothing, and a code with an unknown field is omitted", async () => {
  const own = directory();
  codes = [glucose];
  await own.sync();
  codes = { items: [] };
  await expect(own.sync()).rejects.toThrow("invalid response of GET /agent/v1/codes: expected a list of codes");
  expect(await own.codes()).toEqual([glucose]);
  codes = [glucose, { ...glucose, code: "414", only_in_unit: "mg/dL" }];
  await own.sync();
  expect(await own.codes()).toEqual([glucose]);
});

test("a code is of its device alone, and agent.yaml takes precedence", () => {
  const message = { device: "chem-1", receivedAt: 0 };
  const ofClinic = [glucose, { ...glucose, code: "414" }, { ...glucose, device_id: "chem-2", code: "415" }];
  const context = readContext({ timeZone: "UTC", codes: new Map([["413", "CREA"]]) }, message, ofClinic);
  expect(context.codes).toEqual(
    new Map([
      ["413", "CREA"],
      ["414", "GLU"],
    ]),
  );
  expect(readContext({ timeZone: "UTC" }, { ...message, device: "chem-3" }, ofClinic).codes).toBeUndefined();
});

test("the next message of the device has the clinic's analyte, an earlier one only after `reprocess`", async () => {
  clinic.devices.set("chem-1", { profile: genericAstm, timeZone: "UTC", model: null });
  const run = async (minute: number) => {
    const time = `202611211${minute}0000`;
    const result = resultRecord("^^^413", "118", "mg/dL", { 13: time });
    await clinic.receive("chem-1", [HEADER, "P|1|4711", `O|1|S-${minute}||^^^Panel|R||${time}`, result, "L|1|N"]);
  };
  await run(1);
  expect((await clinic.push()).map(resultsOf)).toEqual([["413 118 mg/dL no flag device"]]);
  await clinic.learn([glucose]);
  await run(2);
  expect((await clinic.push()).map(resultsOf)).toEqual([["GLU 118 mg/dL no flag clinic"]]);
  await clinic.reprocess();
  expect((await clinic.push()).map(resultsOf)).toEqual([["GLU 118 mg/dL no flag clinic"]]);
});

test("`codes` shows an analyte of the dashboard, and that of agent.yaml before it", () => {
  const mapped = (own: Record<string, string>) =>
    codeList([{ id: "chem-1", codes: own }], [], [glucose]).map(({ code, mapped_to }) => [code, mapped_to]);
  expect(mapped({})).toEqual([["413", "GLU"]]);
  expect(mapped({ "413": "CREA" })).toEqual([["413", "CREA"]]);
});
