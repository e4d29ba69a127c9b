import type { TrailGap } from "../../../../dashboard/types/results/results.ts";
import { t } from "./trail-texts.ts";

/** The parts of a study's way that nothing shows. */
export function Gaps({ of: gaps }: { of: readonly TrailGap[] }) {
  return (
    <section aria-labelledby="gaps">
      <h2 id="gaps">{t("gaps")}</h2>
      {gaps.length === 0 ? (
        <p>{t("noGaps")}</p>
      ) : (
        <ul class="notes">
          {gaps.map((gap, index) => (
            <li key={index}>{gapText(gap)}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

function gapText(gap: TrailGap): string {
  switch (gap.code) {
    case "NO_RECEIPT":
      return t("gapNoReceipt", { revision: gap.revision });
    case "REVISION_MISSING":
      return t("gapRevision", { revision: gap.revision });
    case "CLOCKS_DISAGREE":
      return t("gapClocks", { revision: gap.revision });
    case "NO_END":
      return t("gapNoEnd", { attempt: gap.attempt });
  }
}
