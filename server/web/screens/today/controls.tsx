import type { ControlNeed } from "../../../dashboard/types/results/today.ts";
import { ago, translations } from "../../text.ts";
import { Need, NeedGroup } from "../../ui/list/needs.tsx";

/** Devices whose controls failed, are due, or were never run. */
export function Controls({ controls }: { controls: readonly ControlNeed[] }) {
  return (
    <NeedGroup id="controls" title={t("title")}>
      {controls.map((need) => {
        const { device_id, name, is } = need;
        return (
          <Need
            key={`${device_id} ${is}`}
            icon={is === "failed" ? "bad" : "tube"}
            tone={is === "never" ? "plain" : "warn"}
            what={<strong>{t(is, { name, analytes: need.analytes.join(", ") })}</strong>}
            why={whyOf(need)}
          >
            <a
              class="button"
              href={`/dashboard/quality?${new URLSearchParams({ device: device_id })}`}
              aria-label={t("openOf", { name })}
            >
              {t("open")}
            </a>
          </Need>
        );
      })}
    </NeedGroup>
  );
}

function whyOf({ is, since, is_explained }: ControlNeed): string {
  if (is === "never") return t("neverWhy");
  // A control has passed since.
  if (since === null) return t("passedSince");
  const time = ago(since);
  if (is === "due") return t("dueWhy", { ago: time });
  return t(is_explained ? "runAgain" : "explain", { ago: time });
}

const t = translations({
  title: ["Quality control", "Kalite kontrol"],
  failed: ["{name}: the control of {analytes} failed", "{name}: {analytes} kontrolü uygun çıkmadı"],
  due: ["{name}: a control is due", "{name}: kontrol zamanı geldi"],
  never: ["{name}: no control was ever run", "{name}: hiç kontrol çalışılmadı"],
  explain: [
    "Failed {ago}. Run it again, and write down what was done.",
    "{ago} uygun çıkmadı. Yeniden çalışın ve ne yapıldığını yazın.",
  ],
  runAgain: [
    "Failed {ago}. It is explained; a control that passes ends it.",
    "{ago} uygun çıkmadı. Açıklaması yazıldı; uygun çıkan bir kontrolle kapanır.",
  ],
  passedSince: [
    "A control has passed since. Write down what was done.",
    "Sonrasında bir kontrol uygun çıktı. Ne yapıldığını yazın.",
  ],
  dueWhy: ["It became due {ago}", "{ago} zamanı geldi"],
  neverWhy: [
    "Without a control nobody knows whether its values are right.",
    "Kontrol olmadan değerlerinin doğru olup olmadığı bilinmez.",
  ],
  open: ["Open quality control", "Kalite kontrolü aç"],
  openOf: ["Open quality control: {name}", "Kalite kontrolü aç: {name}"],
});
