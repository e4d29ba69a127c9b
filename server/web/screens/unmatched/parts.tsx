import { t } from "./texts.ts";

/** The two parts of the screen: studies without a patient, and codes without an analyte. */
export function Parts({ at, codes }: { at: "studies" | "codes"; codes: number | undefined }) {
  return (
    <nav class="unmatched-parts" aria-label={t("parts")}>
      <a href="/dashboard/to-place" aria-current={at === "studies" ? "page" : undefined}>
        {t("studies")}
      </a>
      <a href="/dashboard/to-place/codes" aria-current={at === "codes" ? "page" : undefined}>
        {t("codes")} {codes !== undefined && codes > 0 && codes}
      </a>
    </nav>
  );
}
