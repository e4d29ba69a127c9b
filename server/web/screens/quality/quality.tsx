import { useLocation } from "preact-iso";
import { useEffect, useState } from "preact/hooks";
import type { ControlledDevice, QualityBody, SeriesBody } from "../../../dashboard/types/quality.ts";
import type { TypedAnalyte } from "../../../dashboard/types/results/manual-study.ts";
import { Empty, Loaded, type Resource, useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { ago } from "../../text.ts";
import "../../ui/list/list-bar.css";
import { Begin } from "./begin.tsx";
import { addressOf, type Choice, chosenOf } from "./choice.ts";
import { MonthlyReport } from "./dialogs/month.tsx";
import { TypeControl } from "./dialogs/typed-control.tsx";
import { Filters, type ShownDays } from "./filters.tsx";
import "./quality.css";
import { Questions } from "./questions.tsx";
import { AllAnalytes, Limits, Rules, Schedule } from "./rail.tsx";
import { Series } from "./series.tsx";
import { t } from "./words/texts.ts";
import { dayOf } from "../../ui/words/words.ts";
import { isOpen as isUnexplained } from "./violations.tsx";
import { deviceTitle, type Names } from "./words/words.ts";

const DAY_MS = 86_400_000;

/** The controls of the clinic's devices. The shown series is in the address. */
export function QualityControl() {
  const quality = useResource<QualityBody>("/quality");
  const catalogue = useResource<TypedAnalyte[]>("/manual-study/analytes");
  const names: Names = new Map(catalogue.data?.map((analyte) => [analyte.code, analyte]));
  const { path, url, query, route } = useLocation();
  const chosen = quality.data === undefined ? null : chosenOf(quality.data, query);
  const address = chosen?.series == null ? null : addressOf(chosen.series);
  // Puts the whole choice into the address, so that a later control of another series changes nothing under an open dialog.
  useEffect(() => {
    if (address !== null && path === "/dashboard/quality" && url !== address) route(address, true);
  }, [address, url]);
  return <Loaded of={quality}>{(body) => <Page body={body} chosen={chosen} names={names} quality={quality} />}</Loaded>;
}

interface PageProps {
  readonly body: QualityBody;
  readonly chosen: Choice | null;
  readonly names: Names;
  readonly quality: Resource<QualityBody>;
}

function Page({ body, chosen, names, quality }: PageProps) {
  const { route } = useLocation();
  const id = chosen?.series?.id ?? null;
  const [days, setDays] = useState<ShownDays>(90);
  const [time, setTime] = useState<Readonly<Record<string, string>>>({});
  const showDays = (next: ShownDays) => {
    setDays(next);
    // The server shows 90 days if no first day is named.
    setTime(next === 90 ? {} : { from: dayOf(new Date(Date.now() - next * DAY_MS).toISOString()) });
  };
  const series = useResource<SeriesBody>(id === null ? null : `/quality/series/${id}?${new URLSearchParams(time)}`);
  const reload = async () => {
    await Promise.all([quality.reload(), series.reload()]);
  };
  const show = (query: Readonly<Record<string, string>>) => route(`/dashboard/quality?${new URLSearchParams(query)}`);
  // The filled button is that of the first thing that needs a person.
  const hasQuestions = body.questions.length > 0;
  const isCalm = !hasQuestions && series.data?.violations.some(isUnexplained) !== true;
  const lacksLimits = series.data?.target === null && may("admin");
  const device = chosen?.device;
  return (
    <>
      <Head body={body} device={device} names={names} isCalm={isCalm && !lacksLimits} reload={reload} />
      <Questions questions={body.questions} reload={reload} />
      {chosen === null ? (
        <Begin hasQuestions={hasQuestions} reload={reload} />
      ) : (
        <>
          <Filters of={body} chosen={chosen} names={names} show={show} days={days} showDays={showDays} />
          <div class="split">
            {chosen.series === null ? (
              <Empty title={t("emptyDevice")}>{t("emptyDeviceNext")}</Empty>
            ) : (
              <Loaded of={series}>
                {(shown) => <Series of={shown} time={time} names={names} isFirst={!hasQuestions} reload={reload} />}
              </Loaded>
            )}
            <aside>
              {chosen.series !== null && <AllAnalytes device={chosen.device} series={chosen.series} names={names} />}
              {series.data !== undefined && <Limits of={series.data} names={names} isFirst={isCalm} reload={reload} />}
              {series.data !== undefined && <Rules of={series.data} names={names} reload={reload} />}
              <Schedule devices={body.devices} device={chosen.device} reload={reload} />
            </aside>
          </div>
        </>
      )}
      <p class="no-print">
        <a href="/dashboard/help/quality-control">{t("help")}</a>
      </p>
    </>
  );
}

function Head({
  body,
  device,
  names,
  isCalm,
  reload,
}: {
  body: QualityBody;
  device: ControlledDevice | undefined;
  names: Names;
  isCalm: boolean;
  reload: () => Promise<void>;
}) {
  const [open, setOpen] = useState<"month" | "type" | null>(null);
  const close = () => setOpen(null);
  return (
    <div class="page-head">
      <div>
        <h1>{t("title")}</h1>
        {device !== undefined && <p>{lastOf(device, body.out_of_use)}</p>}
      </div>
      <p class="actions no-print">
        {device !== undefined && (
          <button type="button" onClick={() => setOpen("month")}>
            {t("month")}
          </button>
        )}
        {may("staff") && (
          <button type="button" class={isCalm ? "primary" : undefined} onClick={() => setOpen("type")}>
            {t("type")}
          </button>
        )}
      </p>
      {open === "month" && <MonthlyReport devices={body.devices} device={device} close={close} />}
      {open === "type" && (
        <TypeControl devices={body.devices} device={device} names={names} close={close} reload={reload} />
      )}
    </div>
  );
}

function lastOf(device: ControlledDevice, outOfUse: readonly string[]): string {
  const { device_id, last_at, state } = device;
  if (outOfUse.includes(device_id)) return t("outOfUse", { device: deviceTitle(device) });
  if (last_at === null) return t("neverOf", { device: deviceTitle(device) });
  return t("lastOf", { device: deviceTitle(device), state: t(`last-${state}`), ago: ago(last_at) });
}
