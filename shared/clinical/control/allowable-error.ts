/** The published error that a result of an analyte may have, in percent, with its source. */
export interface AllowableError {
  readonly percent: number;
  readonly source: string;
}

/**
 * Returns the published allowable error of an analyte: data/allowable-error.json. `meter` is a portable meter, for which other
 * limits are published than for an analyzer.
 * @returns null if nothing that was read applies. The tables of the ASVCP were not read
 */
export function allowableErrorOf(analyte: string, device: "meter" | "analyzer"): AllowableError | null {
  throw new Error(`TODO ${analyte} ${device}`);
}
