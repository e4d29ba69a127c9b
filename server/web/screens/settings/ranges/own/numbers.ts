import { boundDecimals, rounded, valueDigits } from "../../../../../../shared/clinical/units/rounding.ts";
import { unitText } from "../../../../../../shared/clinical/units/unit-text.ts";
import type { ShownUnit } from "../../../../../dashboard/types/settings/own-intervals.ts";

/** Writes the numbers of a proposal in the reader's unit. */
export interface Numbers {
  readonly unit: string;
  /** Writes a measured value. */
  readonly value: (value: number) => string;
  /** Writes a limit that was found. */
  readonly bound: (bound: number) => string;
  /** Writes a bound of the interval in force, which has digits of its own. */
  readonly inForce: (bound: number) => string;
  /** Writes the change from a bound in force to a found limit with its sign: +3, −0.2, or 0 without one. */
  readonly change: (from: number, to: number) => string;
  /** Returns a text with numbers in the unit of the results, for the pointer; undefined if the reader has that unit. */
  readonly typed: (write: (number: (value: number) => string, unit: string) => string) => string | undefined;
}

/** An accepted limit has the unit of the results and their digits, so that it is rounded to these before it is converted. */
export function numbersOf({
  unit,
  decimals,
  shown,
}: {
  readonly unit: string | null;
  readonly decimals: number;
  readonly shown: ShownUnit | null;
}): Numbers {
  const own = unitText(unit ?? "");
  const typed = (value: number) => value.toFixed(decimals);
  if (shown === null) {
    return {
      unit: own,
      value: typed,
      bound: typed,
      inForce: typed,
      change: (from, to) => signed(to - from, typed),
      typed: () => undefined,
    };
  }
  const inForce = (value: number) => rounded(value * shown.factor, boundDecimals(value * shown.factor, shown.decimals));
  const bound = (value: number) => inForce(Number(typed(value)));
  return {
    ...{ unit: shown.unit, bound, inForce },
    value: (value) => valueDigits(Number(typed(value)) * shown.factor, shown.decimals),
    change: (from, to) =>
      signed(Number(bound(to)) - Number(inForce(from)), (size) => size.toFixed(digitsOf(bound(to)))),
    typed: (write) => write(typed, own),
  };
}

function digitsOf(written: string): number {
  return written.split(".")[1]?.length ?? 0;
}

function signed(change: number, write: (size: number) => string): string {
  const written = write(Math.abs(change));
  return Number(written) === 0 ? written : `${change < 0 ? "−" : "+"}${written}`;
}
