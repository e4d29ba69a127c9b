import { foldName } from "../../../shared/clinical/analytes/analytes.ts";
import { nearAnalytes } from "../../../shared/clinical/analytes/near-analytes.ts";
import type { DeviceConfig } from "../../config/values/schema.ts";
import type { ClinicCode } from "../../spool/queries/clinic-codes.ts";
import type { SeenCode } from "../../spool/queries/studies/seen-codes.ts";

// The list of `agent codes` and of the page: what devices sent outside the catalogue, and what the clinic mapped.

export interface ListedCode {
  readonly device: string;
  readonly code: string;
  readonly label: string | null;
  /** Results in the stored studies. */
  readonly count: number;
  /** Results of these under the device's own code. */
  readonly unknown_count: number;
  readonly last_value: string | null;
  readonly last_unit: string | null;
  readonly last_measured_at: string | null;
  /** The analyte in agent.yaml, else the dashboard's. */
  readonly mapped_to: string | null;
  /** The nearest analytes of the catalogue, for a code without a mapping. */
  readonly suggestions: readonly string[];
}

/** Joins the codes in the spool with the mapped ones, by device. A mapped code that no study has comes last. */
export function codeList(
  devices: readonly Pick<DeviceConfig, "id" | "codes">[],
  seen: readonly SeenCode[],
  ofClinic: readonly ClinicCode[] = [],
): ListedCode[] {
  const ids = [...new Set([...devices.map(({ id }) => id), ...seen.map(({ device }) => device)])];
  return ids.flatMap((id) => {
    const chosen = ofClinic
      .filter(({ device_id }) => device_id === id)
      .map(({ code, analyte }) => [code, analyte] as const);
    const codes = [...chosen, ...Object.entries(devices.find((device) => device.id === id)?.codes ?? {})];
    const mapped = new Map(codes.map(([code, analyte]) => [foldName(code.trim()), { code, analyte }]));
    const own = seen.filter(({ device }) => device === id).map((each) => seenCode(each, mapped));
    const met = new Set(own.map(({ code }) => foldName(code)));
    const unseen = [...mapped].filter(([folded]) => !met.has(folded)).map(([, each]) => unseenCode(id, each));
    return [...own, ...unseen];
  });
}

type Mapping = { readonly code: string; readonly analyte: string };

function seenCode({ device, code, label, unknown, mapped, last }: SeenCode, codes: ReadonlyMap<string, Mapping>) {
  const analyte = codes.get(foldName(code))?.analyte ?? null;
  return {
    device,
    code,
    label,
    count: unknown + mapped,
    unknown_count: unknown,
    last_value: last.value,
    last_unit: last.unit,
    last_measured_at: last.at,
    mapped_to: analyte,
    suggestions: analyte === null ? nearAnalytes([code, label ?? ""]) : [],
  };
}

function unseenCode(device: string, { code, analyte }: Mapping): ListedCode {
  const never = { label: null, count: 0, unknown_count: 0, last_value: null, last_unit: null, last_measured_at: null };
  return { device, code, ...never, mapped_to: analyte, suggestions: [] };
}
