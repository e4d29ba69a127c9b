import type { Language } from "../../api/language.ts";
import type { DeviceEventKind } from "../../api/quality.ts";
import type { QualityState } from "./state.ts";
import type { ChosenRules } from "./choose.ts";
import type { Rule, Run, Violation } from "./types.ts";

// The words of quality control for a nurse: for pages, print, PDF and CSV.

/** A change of the device or the control; `lot` is a new lot of the control. */
export type ControlEvent = { readonly at: number; readonly event: DeviceEventKind | "lot" };

export interface ViolationText {
  /** What happened, in one or two sentences. */
  readonly what: string;
  /** What to do next. */
  readonly next: string;
}

/**
 * Returns the last change since which all values of the violation's levels lie on its side: CREA has been high since the new lot.
 * @param runs the runs up to the violation, in the order of time
 * @returns null for a scatter, and where no change explains the violation
 */
export function changeBefore(
  violation: Violation,
  runs: readonly Run[],
  events: readonly ControlEvent[],
): ControlEvent["event"] | null {
  throw new Error(`TODO ${violation.rule} ${runs.length} ${events.length}`);
}

/** Returns the words of a violation. `change` is that of `changeBefore`. */
export function violationText(
  violation: Pick<Violation, "rule" | "scope" | "side" | "verdict">,
  analyte: string,
  change: ControlEvent["event"] | null,
  language: Language,
): ViolationText {
  throw new Error(`TODO ${violation.rule} ${analyte} ${change} ${language}`);
}

/**
 * Returns the words of a state beside a patient's results, such as "run after a failed control of CREA at 09:12".
 * @param when writes a time as the page does
 * @returns null for `ok` with no failure afterwards
 */
export function stateText(
  state: QualityState,
  analytes: readonly string[],
  when: (ms: number) => string,
  language: Language,
): string | null {
  throw new Error(`TODO ${state.quality} ${analytes.length} ${when(0)} ${language}`);
}

/** Returns the meaning of a rule in a few words, as a legend has it: "one value beyond 3 SD". */
export function ruleText(rule: Rule, language: Language): string {
  throw new Error(`TODO ${rule} ${language}`);
}

/** Returns why these rules are in force: "clinic" chose them, or the default, or sigma. */
export function whyRulesText(why: ChosenRules["why"] | "clinic", language: Language): string {
  throw new Error(`TODO ${why} ${language}`);
}
