import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { SeriesBody, ShownPoint } from "../../../dashboard/types/quality.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { date, dateTime } from "../../text.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Exclude } from "./dialogs/exclude.tsx";
import { signed } from "./words/numbers.ts";
import { t } from "./words/texts.ts";
import { verdictWords } from "./words/words.ts";

/** The runs of a series, the newest first. A member of the staff takes a handling mistake out of the count, and in again. */
export function RunTable({
  of: { series, points },
  title,
  reload,
}: {
  of: SeriesBody;
  title: string;
  reload: () => Promise<void>;
}) {
  const [asked, ask] = useState<ShownPoint | null>(null);
  const { run, retry, error } = useAction();
  const include = ({ id }: ShownPoint) =>
    run(async () => {
      await call("DELETE", `${clinicPath()}/quality/values/${id}/exclusion`);
      await reload();
    });
  return (
    <>
      {error !== undefined && <Problem error={error} retry={retry} />}
      <DataTable
        label={t("table", { title })}
        class="quality-runs dense cards"
        columns={[
          t("time"),
          [t("value"), "number"],
          [t("z"), "number labelled"],
          t("verdict"),
          t("who"),
          t("counting"),
        ]}
      >
        {points.toReversed().map((point) => (
          <Row key={point.id} point={point} unit={series.unit}>
            {may("staff") && <CountButton of={point} exclude={() => ask(point)} include={() => void include(point)} />}
          </Row>
        ))}
      </DataTable>
      {asked !== null && <Exclude point={asked} unit={series.unit} close={() => ask(null)} reload={reload} />}
    </>
  );
}

function Row({ point, unit, children }: { point: ShownPoint; unit: string | null; children: ComponentChildren }) {
  const { at, text, z, excluded, typed_by, comment } = point;
  return (
    <tr class={excluded === null ? undefined : "stale"}>
      <th scope="row">
        <time dateTime={at}>{dateTime(at)}</time>
      </th>
      <td class="number">{[text, unit].filter(Boolean).join(" ")}</td>
      <td class="number">{z === null ? "–" : signed(z)}</td>
      <td>
        {verdictWords(point).join(" · ")}
        {excluded !== null && <Note>{t("excludedBy", { by: excluded.by, date: date(excluded.at) })}</Note>}
      </td>
      <td>
        {typed_by === null ? t("byDevice") : t("typedBy", { by: typed_by })}
        {comment !== null && <Note>{comment}</Note>}
      </td>
      <td>{children}</td>
    </tr>
  );
}

function Note({ children }: { children: ComponentChildren }) {
  return (
    <>
      <br />
      <small class="quiet">{children}</small>
    </>
  );
}

/** Takes a run out of the count, or in again. */
function CountButton({
  of: { at, excluded },
  exclude,
  include,
}: {
  of: ShownPoint;
  exclude: () => void;
  include: () => void;
}) {
  const time = dateTime(at);
  return excluded === null ? (
    <button type="button" aria-label={t("excludeOf", { time })} onClick={exclude}>
      {t("exclude")}
    </button>
  ) : (
    <button type="button" aria-label={t("includeOf", { time })} onClick={include}>
      {t("include")}
    </button>
  );
}
