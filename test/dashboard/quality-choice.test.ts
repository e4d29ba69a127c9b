import { expect, test } from "vitest";
import type { ControlledDevice } from "../../server/dashboard/types/quality.ts";
import { chosenOf } from "../../server/web/screens/quality/choice.ts";

function device(deviceId: string, unexplained: number): ControlledDevice {
  const last_at = "2026-11-28T08:00:00.000Z";
  const series = {
    ...{ id: deviceId, device_id: deviceId, analyte: "GLU", unit: "mg/dL", material: null, level: "1", lot: "C2207" },
    ...{ expires: null, state: "ok" as const, since: last_at, runs: 3, last_at, unexplained, target: null },
  };
  return { device_id: deviceId, name: deviceId, last_at, state: "ok", schedule: null, series: [series] };
}

test("the page begins with a device in use, and shows one that was taken out of use when asked", () => {
  const [failed, passed] = [device("a-meter", 1), device("chem-1", 0)];
  const body = { devices: [failed, passed], out_of_use: ["a-meter"], questions: [] };
  expect(chosenOf(body, {})?.device).toBe(passed);
  expect(chosenOf(body, { device: "a-meter" })?.device).toBe(failed);
  expect(chosenOf({ ...body, out_of_use: [] }, {})?.device).toBe(failed);
  expect(chosenOf({ ...body, devices: [failed] }, {})?.device).toBe(failed);
});
