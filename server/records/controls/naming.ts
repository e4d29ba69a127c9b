import type { ControlRun } from "../../../shared/api/quality.ts";

// Which material, level and lot a control run is of. The device names them, or the clinic answers once for a sample of the device.

/** The control of a run, as its series name it. */
export interface NamedControl {
  readonly material: string;
  readonly level: string;
  readonly lot: string;
  readonly expires: string | null;
}

/** An answer of the clinic, in force from a time of measurement on. */
export interface Answer {
  readonly from_at: number;
  readonly material: string | null;
  readonly level: string;
  readonly lot: string;
  readonly expires: string | null;
}

/** The names that a device gives the control of a run. */
export interface SentControl {
  readonly measured_at: number;
  readonly material: string | null;
  readonly level: string | null;
  readonly lot: string | null;
  readonly expires: string | null;
}

/**
 * Returns the name of a sample by which the clinic answers. A device that names material and level numbers its samples in running
 * order, so that the numbers would ask again each day.
 */
export function sampleOf({
  sample_ids: [first],
  material,
  level,
}: Pick<ControlRun, "sample_ids" | "material" | "level">): string {
  return material !== null && level !== null ? material : (first ?? material ?? "");
}

/**
 * Names the control of a run: what the device sends wins, the answer in force fills what it lacks.
 * @param answers the answers for its sample and sent level, in the order of their times
 * @returns null if level or lot is unknown
 */
export function nameControl(sent: SentControl, answers: readonly Answer[]): NamedControl | null {
  const answer = answers.findLast(({ from_at }) => from_at <= sent.measured_at);
  const level = sent.level ?? answer?.level ?? null;
  const lot = sent.lot ?? answer?.lot ?? null;
  if (level === null || lot === null) return null;
  const isOfAnswer = lot === answer?.lot;
  return {
    ...{ material: sent.material ?? answer?.material ?? "", level, lot },
    expires: sent.expires ?? (isOfAnswer ? answer.expires : null),
  };
}
