import { useState } from "preact/hooks";
import type { AcceptBody, SeriesBody } from "../../../../../dashboard/types/quality.ts";
import { sdRange } from "../../../../../../shared/clinical/control/statistics.ts";
import { call } from "../../../../api.ts";
import { clinicPath } from "../../../../session.ts";
import { FormDialog } from "../../../../ui/form-dialog/form-dialog.tsx";
import { targetText } from "../../words/numbers.ts";
import { pointText } from "../../words/words.ts";
import { t } from "../texts.ts";

/** Shows the limits that the first runs make, and the runs to look at before a person accepts them. */
export function AcceptOwn({
  of: { series, points },
  proposal,
  close,
  reload,
}: {
  of: SeriesBody;
  proposal: NonNullable<SeriesBody["proposal"]>;
  close: () => void;
  reload: () => Promise<void>;
}) {
  // The limits and runs shown when the dialog opened: the server refuses to accept others.
  const [{ mean, sd, runs, outliers }] = useState(proposal);
  const apart = points.filter(({ id }) => outliers.includes(id));
  const weak = sdRange(runs);
  const target = [targetText({ mean, sd }), series.unit].filter(Boolean).join(" ");
  const accept = async () => {
    const body: AcceptBody = { mean, sd };
    await call("POST", `${clinicPath()}/quality/series/${series.id}/accept`, body);
    await reload();
  };
  return (
    <FormDialog title={t("ownTitle")} close={close} act={accept} button={t("ownButton", { target })}>
      <p>{t("ownWhy", { count: runs })}</p>
      {weak !== null && (
        <p class="quiet">{t("ownWeak", { count: runs, low: weak.low.toFixed(2), high: weak.high.toFixed(2) })}</p>
      )}
      {apart.length === 0 ? (
        <p>{t("noOutliers")}</p>
      ) : (
        <>
          <h3>{t("outliers")}</h3>
          <ul>
            {apart.map((point) => (
              <li key={point.id}>{pointText(point, series.unit)}</li>
            ))}
          </ul>
          <p>{t("outliersWhy")}</p>
        </>
      )}
    </FormDialog>
  );
}
