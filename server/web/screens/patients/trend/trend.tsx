import { useLocation, useRoute } from "preact-iso";
import { useState } from "preact/hooks";
import type { AnalyteName } from "../../../../dashboard/types/patients.ts";
import { translations } from "../../../text.ts";
import type { Span } from "../../../ui/chart/axes.ts";
import { analyteName } from "../../../ui/words/words.ts";
import "../patients.css";
import { AnalyteCurves } from "./trend-curves.tsx";

/** Analytes of a patient over time, below each other on one axis of time. The address holds them. */
export function AnalyteTrend() {
  const { fp = "", analyte = "" } = useRoute().params;
  const { url, route } = useLocation();
  const beside = new URL(url, location.origin).searchParams.getAll("with").filter((code) => code !== analyte);
  const [subject, setSubject] = useState<{ name: string; others: AnalyteName[] } | null>(null);
  const [spans, setSpans] = useState<Readonly<Record<string, Span>>>({});
  const shown = [analyte, ...beside];
  const known = shown.flatMap((code) => spans[code] ?? []);
  const name = subject?.name ?? "";
  const patient = `/dashboard/patients/${encodeURIComponent(fp)}`;
  function show(codes: readonly string[]): void {
    const search = codes.length === 0 ? "" : `?${new URLSearchParams(codes.map((code) => ["with", code]))}`;
    route(`${patient}/${encodeURIComponent(analyte)}${search}`, true);
  }
  return (
    <div class="patients-screen">
      <p class="no-print">
        <a href={patient}>{name === "" ? t("back") : name}</a>
      </p>
      <h1>{name === "" ? analyte : t("title", { analyte: shown.join(", "), name })}</h1>
      <Choice others={subject?.others ?? []} analyte={analyte} chosen={beside} choose={show} />
      <div class={shown.length > 1 ? "curves several" : "curves"}>
        {shown.map((code) => (
          <AnalyteCurves
            key={code}
            fp={fp}
            analyte={code}
            isAlone={shown.length === 1}
            span={known.length === 0 ? null : [Math.min(...known), Math.max(...known)]}
            loaded={({ patient_name, others = [] }, span) => {
              if (code === analyte) setSubject({ name: patient_name, others });
              setSpans((all) => ({ ...all, [code]: span }));
            }}
          />
        ))}
      </div>
    </div>
  );
}

interface ChoiceProps {
  readonly others: readonly AnalyteName[];
  readonly analyte: string;
  readonly chosen: readonly string[];
  readonly choose: (codes: readonly string[]) => void;
}

function Choice({ others, analyte, chosen, choose }: ChoiceProps) {
  const codes = [...new Set([...others.map(({ code }) => code), ...chosen])].filter((code) => code !== analyte);
  if (codes.length === 0) return null;
  const nameOf = (code: string) => {
    const other = others.find((each) => each.code === code);
    return other && (analyteName(other) ?? undefined);
  };
  return (
    <details class="curve-choice no-print" open={chosen.length > 0}>
      <summary>{t("beside")}</summary>
      <div role="group" aria-label={t("beside")}>
        {codes.map((code) => (
          <label key={code} title={nameOf(code)}>
            <input
              type="checkbox"
              checked={chosen.includes(code)}
              onChange={({ currentTarget }) =>
                choose(currentTarget.checked ? [...chosen, code] : chosen.filter((other) => other !== code))
              }
            />
            {code}
          </label>
        ))}
      </div>
    </details>
  );
}

const t = translations({
  back: ["The patient", "Hasta"],
  title: ["{analyte} of {name}", "{name}: {analyte}"],
  beside: ["Other analytes beside it", "Yanında başka analitler"],
});
