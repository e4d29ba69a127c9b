import { t } from "./texts.ts";

/** The two parts of the screen: studies without a patient, and codes without an analyte. */
export function Parts({ at }: { at: "studies" | "codes" }) {
  return (
    <nav class="unmatched-parts" aria-label={t("parts")}>
      <a href="/dashboard/to-place" aria-current={at === "studies" ? "page" : undefined}>
        {t("studies")}
      </a>
      <a href="/dashboard/to-place/codes" aria-current={at === "codes" ? "page" : undefined}>
        {t("codes")}
      </a>
    </nav>
  );
}
