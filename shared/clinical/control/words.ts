import type { Language } from "../../api/language.ts";
import type { DeviceEventKind } from "../../api/quality.ts";
import type { ChosenRules } from "./choose.ts";
import type { QualityState } from "./state.ts";
import type { Rule, Run, Violation } from "./types.ts";

// The words of quality control for a nurse: for pages, print, PDF and CSV.

/** An event of the device or of its control. `lot`: a new lot of the control. Milliseconds since 1970. */
export interface ControlEvent {
  readonly at: number;
  readonly event: DeviceEventKind | "lot";
}

/** An event after which a device can measure higher or lower. */
export type Change = keyof typeof englishChanges;

export interface ViolationText {
  readonly what: string;
  /** The next step for the reader. */
  readonly next: string;
}

type Named = Pick<Violation, "rule" | "scope" | "side" | "verdict">;

interface Words {
  readonly changes: Readonly<Record<Change, string>>;
  readonly sides: Readonly<Record<"high" | "low", string>>;
  readonly what: Readonly<Record<Rule, (analyte: string, side: string, scope: Violation["scope"]) => string>>;
  readonly next: Readonly<Record<Rule, (side: string) => string>>;
  /** The advice for a violation that rejects. */
  readonly distrust: (analyte: string) => string;
  readonly sinceChange: (analyte: string, side: string, change: string) => string;
  readonly afterChange: (side: string) => string;
  readonly rules: Readonly<Record<Rule, string>>;
  readonly why: Readonly<Record<ChosenRules["why"] | "clinic", string>>;
}

const englishChanges = {
  lot: "the new lot of the control",
  reagent: "the new reagent",
  calibration: "the last calibration",
  maintenance: "the last maintenance",
} as const satisfies Partial<Record<ControlEvent["event"], string>>;

const english: Words = {
  changes: englishChanges,
  sides: { high: "high", low: "low" },
  what: {
    "1-2s": (analyte, side) => `This control of ${analyte} is a little ${side}. One in twenty is off, by chance.`,
    "1-3s": (analyte, side) => `This control of ${analyte} is far too ${side}.`,
    "2-2s": (analyte, side, scope) =>
      `Two controls ${scope === "run" ? "of one run" : "in a row"} are off to the same side: ${analyte} reads too ${side}.`,
    "R-4s": (analyte) => `One control of ${analyte} is too high, the other too low: the device scatters.`,
    "4-1s": (analyte, side) => `${analyte} has been reading slightly ${side} for some time.`,
    "10x": (analyte, side) => `${analyte} has been reading slightly ${side} for some time.`,
  },
  next: {
    "1-2s": () => "Nothing to do now: watch the next control.",
    "1-3s": () => "Mix the control or open a fresh vial, and run it again.",
    "2-2s": (side) =>
      `Run a fresh vial. If it stays ${side}, take new reagent or clean the device, and then call the maker.`,
    "R-4s": () => "Check mixing, sample volume and bubbles, and run both controls again.",
    "4-1s": () => "Compare the lots, and plan a calibration.",
    "10x": () => "Compare the lots, and plan a calibration.",
  },
  distrust: (analyte) => `Do not trust new results of ${analyte} until a control passes.`,
  sinceChange: (analyte, side, change) => `${analyte} has been ${side} since ${change}.`,
  afterChange: (side) =>
    `Repeat the control. If it stays ${side}, recalibrate before you report, or call the maker if you cannot.`,
  rules: {
    "1-2s": "one value beyond 2 SD",
    "1-3s": "one value beyond 3 SD",
    "2-2s": "two values beyond 2 SD on the same side",
    "R-4s": "one value above +2 SD and one below −2 SD in one run",
    "4-1s": "four values in a row beyond 1 SD on the same side",
    "10x": "ten values in a row on the same side of the mean",
  },
  why: {
    default: "The usual rules for a clinic.",
    sigma: "Chosen by sigma. The steps by sigma are common advice, not verified.",
    clinic: "Chosen by the clinic.",
  },
};

const turkish: Words = {
  changes: {
    lot: "kontrolün yeni lotundan",
    reagent: "yeni reaktiften",
    calibration: "son kalibrasyondan",
    maintenance: "son bakımdan",
  },
  sides: { high: "yüksek", low: "düşük" },
  what: {
    "1-2s": (analyte, side) => `Bu ${analyte} kontrolü biraz ${side}. Yirmi kontrolden biri rastlantıyla sapar.`,
    "1-3s": (analyte, side) => `Bu ${analyte} kontrolü çok ${side}.`,
    "2-2s": (analyte, side, scope) =>
      `${scope === "run" ? "Aynı çalışmadaki" : "Art arda"} iki ${analyte} kontrolü aynı yöne saptı: cihaz fazla ${side} ölçüyor.`,
    "R-4s": (analyte) => `${analyte} kontrollerinden biri fazla yüksek, diğeri fazla düşük: cihazın ölçümleri dağınık.`,
    "4-1s": (analyte, side) => `${analyte} bir süredir biraz ${side} ölçülüyor.`,
    "10x": (analyte, side) => `${analyte} bir süredir biraz ${side} ölçülüyor.`,
  },
  next: {
    "1-2s": () => "Şimdi bir şey yapmanız gerekmez: sonraki kontrolü izleyin.",
    "1-3s": () => "Kontrolü iyice karıştırın ya da yeni bir flakon açın, sonra yeniden çalışın.",
    "2-2s": (side) =>
      `Yeni bir flakon çalışın. Yine ${side} çıkarsa reaktifi değiştirin ya da cihazı temizleyin, olmazsa üreticiyi arayın.`,
    "R-4s": () =>
      "Karıştırmayı, numune hacmini ve hava kabarcığı olup olmadığını denetleyin; iki kontrolü de yeniden çalışın.",
    "4-1s": () => "Lotları karşılaştırın ve kalibrasyon planlayın.",
    "10x": () => "Lotları karşılaştırın ve kalibrasyon planlayın.",
  },
  distrust: (analyte) => `Bir kontrol uygun çıkana kadar yeni ${analyte} sonuçlarına güvenmeyin.`,
  sinceChange: (analyte, side, change) => `${analyte}, ${change} beri ${side} ölçülüyor.`,
  afterChange: (side) =>
    `Kontrolü yineleyin. Yine ${side} çıkarsa sonuç vermeden önce cihazı kalibre edin; edemiyorsanız üreticiyi arayın.`,
  rules: {
    "1-2s": "2 SS dışında bir değer",
    "1-3s": "3 SS dışında bir değer",
    "2-2s": "aynı yönde 2 SS dışında iki değer",
    "R-4s": "aynı çalışmada biri +2 SS üstünde, biri −2 SS altında iki değer",
    "4-1s": "aynı yönde 1 SS dışında art arda dört değer",
    "10x": "ortalamanın aynı yanında art arda on değer",
  },
  why: {
    default: "Klinikler için olağan kurallar.",
    sigma: "Sigmaya göre seçildi. Sigma basamakları yaygın bir öneridir, doğrulanmamıştır.",
    clinic: "Klinik seçti.",
  },
};

const words: Readonly<Record<Language, Words>> = { en: english, tr: turkish };

/**
 * Returns the last change since which all values of the violation's levels lie on its side, so that "CREA has been high since the new
 * reagent" is true.
 * @param runs the runs of the analyte up to the violation, in the order of time
 * @returns null for a single value or a scatter, and where no change fits
 */
export function changeBefore(
  { rule, side, points }: Violation,
  runs: readonly Run[],
  events: readonly ControlEvent[],
): Change | null {
  if (side === "both" || rule === "1-2s" || rule === "1-3s") return null;
  const broken = new Set(points);
  const first = runs.find((run) => run.points.some(({ id }) => broken.has(id)));
  if (first === undefined) return null;
  const own = runs.flatMap((run) => run.points).filter(({ id }) => broken.has(id));
  const levels = new Set(own.map(({ level }) => level));
  const isOnSide = (z: number) => (side === "high" ? z > 0 : z < 0);
  const last = events
    .filter((event): event is ControlEvent & { event: Change } => event.event in englishChanges && event.at <= first.at)
    .toSorted((one, other) => one.at - other.at)
    .at(-1);
  if (last === undefined) return null;
  const since = runs.filter(({ at }) => at >= last.at).flatMap((run) => run.points);
  return since.every(({ level, z }) => !levels.has(level) || isOnSide(z)) ? last.event : null;
}

/** Returns the words of a violation. `change` is that of `changeBefore`. */
export function violationText(
  { rule, scope, side, verdict }: Named,
  analyte: string,
  change: Change | null,
  language: Language,
): ViolationText {
  const { sides, changes, what, next, distrust, sinceChange, afterChange } = words[language];
  const word = side === "both" ? "" : sides[side];
  const fact = change === null ? what[rule](analyte, word, scope) : sinceChange(analyte, word, changes[change]);
  const action = change === null ? next[rule](word) : afterChange(word);
  // A clinic that lets 1-2s reject needs more than to watch.
  const isRejected = verdict === "reject";
  return {
    what: isRejected ? `${fact} ${distrust(analyte)}` : fact,
    next: isRejected && rule === "1-2s" ? next["1-3s"](word) : action,
  };
}

/**
 * Returns the sentence beside results that were measured in a state, or a part of one after their names: "run after a failed control
 * at 09:12 (1-3s)".
 * @param when writes a time as the page does
 * @returns null for `ok` without a later failure
 */
export function stateText(state: QualityState, when: (ms: number) => string, language: Language): string | null {
  const { afterwards } = state;
  const later = afterwards === undefined ? null : afterwardsText(afterwards, when, language);
  const parts = [nowText(state, when, language), later].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join("; ");
}

function afterwardsText(
  { at, rule }: NonNullable<QualityState["afterwards"]>,
  when: (ms: number) => string,
  language: Language,
): string {
  return language === "tr"
    ? `daha sonra bir kontrol başarısız oldu (${when(at)}, ${rule})`
    : `a control failed afterwards, at ${when(at)} (${rule})`;
}

function nowText({ quality, since, rule }: QualityState, when: (ms: number) => string, language: Language) {
  const isTurkish = language === "tr";
  const time = since === null ? "" : when(since);
  switch (quality) {
    case "ok":
      return null;
    case "failed":
      return isTurkish
        ? `başarısız bir kontrolden sonra ölçüldü (${time}, ${rule})`
        : `run after a failed control at ${time} (${rule})`;
    case "warning":
      return isTurkish ? `kontrol uyarı verdi (${time}, ${rule})` : `a control was a little off at ${time} (${rule})`;
    case "none":
      if (since === null) return isTurkish ? "bilinen bir kontrol yok" : "no control is known";
      return isTurkish ? `son kontrolden (${time}) beri kontrol çalışılmadı` : `no control since ${time}`;
  }
}

/** Returns the meaning of a rule for a legend: "one value beyond 3 SD". */
export function ruleText(rule: Rule, language: Language): string {
  return words[language].rules[rule];
}

/** Returns why the rules in force were chosen. */
export function whyRulesText(why: ChosenRules["why"] | "clinic", language: Language): string {
  return words[language].why[why];
}
