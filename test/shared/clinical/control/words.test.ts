import { expect, test } from "vitest";
import { judge } from "../../../../shared/clinical/control/rules.ts";
import type { QualityState } from "../../../../shared/clinical/control/state.ts";
import type { Rule, RuleChoice, Run, Violation } from "../../../../shared/clinical/control/types.ts";
import {
  changeBefore,
  type ControlEvent,
  ruleText,
  stateText,
  violationText,
  whyRulesText,
} from "../../../../shared/clinical/control/words.ts";

const RULES: readonly Rule[] = ["1-2s", "1-3s", "2-2s", "R-4s", "4-1s", "10x"];
const LANGUAGES = ["en", "tr"] as const;
const ALL = { "1-2s": "warn", "1-3s": "reject", "2-2s": "reject", "R-4s": "reject", "4-1s": "warn", "10x": "warn" };

/** Runs of one level, one each hour. */
function runsOf(zs: readonly number[]): Run[] {
  return zs.map((z, at) => ({ at, points: [{ id: String(at), level: "1", z }] }));
}

function lastViolation(runs: readonly Run[], rule: Rule): Violation {
  const violation = judge(runs, ALL as RuleChoice)
    .at(-1)
    ?.violations.find((one) => one.rule === rule);
  if (violation === undefined) throw new Error(`expected ${rule}`);
  return violation;
}

const named = (rule: Rule, side: Violation["side"] = "high", verdict: Violation["verdict"] = "reject") =>
  ({ rule, side, verdict, scope: "level" }) as const;

test("a shift since a new reagent has one sentence for it and one for what to do", () => {
  const runs = runsOf([-0.5, 0.2, 2.3, 2.4]);
  const violation = lastViolation(runs, "2-2s");
  const change = changeBefore(violation, runs, [
    { at: -9, event: "calibration" },
    { at: 1.5, event: "reagent" },
  ]);
  expect(violationText(violation, "CREA", change, "en")).toEqual({
    what: "CREA has been high since the new reagent. Do not trust new results of CREA until a control passes.",
    next: "Repeat the control. If it stays high, recalibrate before you report, or call the maker if you cannot.",
  });
  expect(violationText(violation, "CREA", change, "tr")).toEqual({
    what: "CREA, yeni reaktiften beri yüksek ölçülüyor. Bir kontrol uygun çıkana kadar yeni CREA sonuçlarına güvenmeyin.",
    next: "Kontrolü yineleyin. Yine yüksek çıkarsa sonuç vermeden önce cihazı kalibre edin; edemiyorsanız üreticiyi arayın.",
  });
});

test("a change explains a shift only if all values since it lie on the side", () => {
  const at = (time: number, event: ControlEvent["event"] = "lot") => [{ at: time, event }];
  const runs = runsOf([-0.5, 0.2, -2.3, -2.4]);
  const violation = lastViolation(runs, "2-2s");
  expect(changeBefore(violation, runs, at(2))).toBe("lot");
  expect(changeBefore(violation, runs, at(1))).toBeNull();
  expect(changeBefore(violation, runs, at(3))).toBeNull();
  expect(changeBefore(violation, runs, [])).toBeNull();
  expect(changeBefore(violation, runs, at(2, "counter"))).toBeNull();
  expect(changeBefore(violation, runs, [...at(2, "maintenance"), ...at(0)])).toBe("maintenance");
});

test("another level does not refute a change, and a single value or a scatter has none", () => {
  const lot: ControlEvent[] = [{ at: 0, event: "lot" }];
  const runs = runsOf([2.3, 2.4]).map((run) => ({
    ...run,
    points: [...run.points, { id: `other ${run.at}`, level: "2", z: -0.4 }],
  }));
  expect(changeBefore(lastViolation(runs, "2-2s"), runs, lot)).toBe("lot");
  expect(changeBefore(lastViolation(runs, "1-2s"), runs, lot)).toBeNull();
  const scattered: Run[] = [
    {
      at: 1,
      points: [
        { id: "a", level: "1", z: 2.2 },
        { id: "b", level: "2", z: -2.2 },
      ],
    },
  ];
  expect(changeBefore(lastViolation(scattered, "R-4s"), scattered, lot)).toBeNull();
});

test("each rule has its words on each side, with the analyte's name", () => {
  const texts = LANGUAGES.flatMap((language) =>
    RULES.flatMap((rule) =>
      (rule === "R-4s" ? (["both"] as const) : (["high", "low"] as const)).map((side) =>
        violationText(named(rule, side), "CREA", null, language),
      ),
    ),
  );
  // 4-1s and 10x are one thing for a nurse.
  expect(new Set(texts.map(({ what }) => what)).size).toBe(texts.length - 4);
  for (const { what, next } of texts) {
    expect(what).toContain("CREA");
    expect(`${what} ${next}`).not.toMatch(/ {2}|undefined|null/);
    expect(next).toMatch(/\.$/);
  }
  expect(violationText(named("1-3s", "low"), "GLU", null, "en")).toEqual({
    what: "This control of GLU is far too low. Do not trust new results of GLU until a control passes.",
    next: "Mix the control or open a fresh vial, and run it again.",
  });
});

test("a warning distrusts nothing, and a rejecting 1-2s asks for another run", () => {
  expect(violationText(named("1-2s", "high", "warn"), "GLU", null, "en")).toEqual({
    what: "This control of GLU is a little high. One in twenty is off, by chance.",
    next: "Nothing to do now: watch the next control.",
  });
  expect(violationText(named("1-2s"), "GLU", null, "en").next).toBe(
    violationText(named("1-3s"), "GLU", null, "en").next,
  );
  expect(violationText(named("10x", "low", "warn"), "GLU", null, "tr")).toEqual({
    what: "GLU bir süredir biraz düşük ölçülüyor.",
    next: "Lotları karşılaştırın ve kalibrasyon planlayın.",
  });
});

test("two levels of one run and two runs of one level are told apart", () => {
  const text = (scope: Violation["scope"]) => violationText({ ...named("2-2s"), scope }, "ALT", null, "en").what;
  expect(text("run")).toMatch(/^Two controls of one run are off to the same side: ALT reads too high\./);
  expect(text("level")).toMatch(/^Two controls in a row are off to the same side: ALT reads too high\./);
});

test("a state has its words beside a patient's result, and a passing one has none", () => {
  const when = (ms: number) => `${ms}:12`;
  const text = (state: QualityState, language: "en" | "tr" = "en") => stateText(state, when, language);
  expect(text({ quality: "ok", since: 8 })).toBeNull();
  expect(text({ quality: "failed", since: 9, rule: "1-3s" })).toBe("run after a failed control at 9:12 (1-3s)");
  expect(text({ quality: "failed", since: 9, rule: "1-3s" }, "tr")).toBe(
    "başarısız bir kontrolden sonra ölçüldü (9:12, 1-3s)",
  );
  expect(text({ quality: "none", since: null })).toBe("no control is known");
  expect(text({ quality: "none", since: 9 })).toBe("no control since 9:12");
  expect(text({ quality: "none", since: 9 }, "tr")).toBe("son kontrolden (9:12) beri kontrol çalışılmadı");
  expect(text({ quality: "ok", since: 8, afterwards: { at: 9, rule: "2-2s" } })).toBe(
    "a control failed afterwards, at 9:12 (2-2s)",
  );
  expect(text({ quality: "warning", since: 8, rule: "1-2s", afterwards: { at: 9, rule: "R-4s" } }, "tr")).toBe(
    "kontrol uyarı verdi (8:12, 1-2s); daha sonra bir kontrol başarısız oldu (9:12, R-4s)",
  );
});

test("rules and the reason of their choice have words in both languages, and sigma's say that they are not verified", () => {
  const texts = LANGUAGES.flatMap((language) => [
    ...RULES.map((rule) => ruleText(rule, language)),
    ...(["default", "sigma", "clinic"] as const).map((why) => whyRulesText(why, language)),
  ]);
  expect(new Set(texts).size).toBe(18);
  expect(whyRulesText("sigma", "en")).toContain("not verified");
  expect(whyRulesText("sigma", "tr")).toContain("doğrulanmamıştır");
});
