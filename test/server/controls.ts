import { newFp } from "../../shared/api/fp.ts";
import type { ControlRun, QualityOutcome } from "../../shared/api/quality.ts";
import type { TestServer } from "./harness.ts";

// Runs of control material, for tests. Their target is mean 100 and SD 2, as the device prints it.

/** A run whose values lie `z` SDs from the target. */
export function control(at: string, z: Readonly<Record<string, number>>, more: Partial<ControlRun> = {}): ControlRun {
  return {
    kind: "control",
    fp: newFp("control"),
    dedupe_key: newFp("control"),
    device_name: "Abaxis VetScan VS2",
    measured_at: at,
    material: "Multi",
    level: "1",
    lot: "C2207",
    expires: null,
    sample_ids: [],
    results: Object.entries(z).map(([analyte, off]) => ({
      ...{ analyte, value: 100 + 2 * off, text: String(100 + 2 * off), unit: "mg/dL", target: { mean: 100, sd: 2 } },
    })),
    comments: [],
    source: { device_id: "chem-1" },
    ...more,
  };
}

export async function pushControls(
  { app }: Pick<TestServer, "app">,
  key: string,
  ...records: readonly ControlRun[]
): Promise<string[]> {
  const response = await app.inject({
    method: "POST",
    url: "/agent/v1/quality",
    headers: { "x-api-key": key },
    payload: { records },
  });
  return response.json<{ outcomes: QualityOutcome[] }>().outcomes.map(({ outcome }) => outcome);
}
