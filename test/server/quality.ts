import type {
  ControlResult,
  ControlRun,
  DeviceEvent,
  QualityOutcome,
  QualityRecord,
} from "../../shared/api/quality.ts";
import { newFp } from "../../shared/api/fp.ts";
import type { TestServer } from "./harness.ts";

// Records of quality control, as an agent pushes them.

/** A run of level 1 of lot C2207 on chem-1 with a value of GLU. */
export function controlRun(changes: Partial<ControlRun> = {}): ControlRun {
  const fp = newFp("control");
  return {
    ...{
      kind: "control",
      fp,
      dedupe_key: fp,
      device_name: "Abaxis VetScan VS2",
      measured_at: "2026-11-20T05:10:00.000Z",
    },
    ...{ material: "Multiqual", level: "1", lot: "C2207", expires: "2027-03-31", sample_ids: [], comments: [] },
    results: [result(92)],
    source: { device_id: "chem-1" },
    ...changes,
  };
}

export function result(value: number, changes: Partial<ControlResult> = {}): ControlResult {
  return { analyte: "GLU", value, text: String(value), unit: "mg/dL", ...changes };
}

export function deviceEvent(changes: Partial<DeviceEvent> = {}): DeviceEvent {
  const fp = newFp("devevt");
  return {
    ...{ kind: "event", fp, dedupe_key: fp, device_name: "Abaxis VetScan VS2", at: "2026-11-20T05:00:00.000Z" },
    ...{ event: "reagent", subject: "Rotor", lot: "R1", expires: "2027-01-31", count: null, text: null },
    source: { device_id: "chem-1" },
    ...changes,
  };
}

/** Pushes records. @returns their outcomes; null for a request that was refused as a whole */
export async function pushQuality(
  { app }: Pick<TestServer, "app">,
  key: string,
  ...records: QualityRecord[]
): Promise<QualityOutcome[] | null> {
  const response = await app.inject({
    method: "POST",
    url: "/agent/v1/quality",
    headers: { "x-api-key": key },
    payload: { records },
  });
  return response.json<{ outcomes?: QualityOutcome[] }>().outcomes ?? null;
}
