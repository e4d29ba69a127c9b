import type { Language } from "../../api/language.ts";
import type { Quality } from "../../api/study.ts";
import type { QualityState } from "./state.ts";
import { stateText } from "./words.ts";

// The state of a device's controls when it measured a study. It is a snapshot beside the results and never changes one.

/** The state of one analyte that was not in order, or whose next control failed. Times are milliseconds since 1970. */
export type QualityMark = QualityState & {
  /** The name in the results of the study. */
  readonly analyte: string;
};

/** A person's decision that the results may be used as they are. It holds for the marks that the person saw. */
export interface QualityRelease {
  readonly by: string;
  readonly at: number;
  readonly reason: string;
  readonly marks: readonly QualityMark[];
}

export interface StudyQuality {
  /** Analytes without a mark were in control. */
  readonly marks: readonly QualityMark[];
  readonly released?: QualityRelease;
}

/** The worst first. */
const ORDER: readonly Quality[] = ["failed", "warning", "none", "ok"];

/** Returns the state of a result as the API names it: a failure afterwards is a warning. */
export function qualityOf({ marks }: StudyQuality, analyte: string): Quality {
  const own = marks.filter((mark) => mark.analyte === analyte);
  return worstQuality(own.map((mark) => (mark.afterwards === undefined ? mark.quality : "warning")));
}

export function worstQuality(states: readonly Quality[]): Quality {
  return ORDER.find((each) => states.includes(each)) ?? "ok";
}

/** Whether a mark needs a person: a control failed before the value was measured, or the next one did. */
export function isFailure({ quality, afterwards }: QualityMark): boolean {
  return quality === "failed" || afterwards !== undefined;
}

/** Returns the failures that nobody has released. A release holds for the marks that the person saw, and for no other. */
export function openFailures({ marks, released }: StudyQuality): QualityMark[] {
  const seen = new Set(released?.marks.map(markText));
  return marks.filter((mark) => isFailure(mark) && !seen.has(markText(mark)));
}

/** Whether the release of a study holds now. */
export function isReleased(quality: StudyQuality): boolean {
  return quality.released !== undefined && quality.marks.some(isFailure) && openFailures(quality).length === 0;
}

/** Equal for equal marks. */
export function markText({ analyte, quality, since, rule, afterwards }: QualityMark): string {
  return JSON.stringify([analyte, quality, since, rule ?? null, afterwards?.at ?? null, afterwards?.rule ?? null]);
}

/**
 * Returns the state in words for people, one sentence for a study, the worst first. Analytes of one state are named together.
 * @param when writes a time as the page does
 * @returns null if all analytes were in control
 */
export function studyQualityText(
  { marks }: StudyQuality,
  when: (ms: number) => string,
  language: Language,
): string | null {
  const groups = new Map<string, { readonly state: QualityState; readonly analytes: string[] }>();
  for (const mark of marks) {
    const { analyte, ...state } = mark;
    const key = markText({ ...mark, analyte: "" });
    const group = groups.get(key) ?? { state, analytes: [] };
    groups.set(key, group);
    if (!group.analytes.includes(analyte)) group.analytes.push(analyte);
  }
  const inOrder = [...groups.values()].toSorted(
    (one, other) => ORDER.indexOf(one.state.quality) - ORDER.indexOf(other.state.quality),
  );
  const parts = inOrder.flatMap(({ state, analytes }) => {
    const text = stateText(state, when, language);
    return text === null ? [] : `${namesText(analytes, language)}: ${text}`;
  });
  return parts.length === 0 ? null : `${parts.join("; ")}.`;
}

/** Analytes that a sentence names. */
const NAMES_MAX = 8;

function namesText(analytes: readonly string[], language: Language): string {
  const others = analytes.length - NAMES_MAX;
  // "and 1 other" would not be shorter than the name.
  if (others < 2) return analytes.join(", ");
  const rest = language === "tr" ? `ve ${others} diğer` : `and ${others} others`;
  return `${analytes.slice(0, NAMES_MAX).join(", ")} ${rest}`;
}
