import type { ControlResult, ControlRun, DeviceEvent, PrintedTarget } from "../../../../shared/api/quality.ts";
import { unitText } from "../../../../shared/clinical/units/unit-text.ts";
import { dateTime } from "../../../../server/web/text.ts";
import { Facts } from "../../../../server/web/ui/status/facts.tsx";
import { State } from "../../../../server/web/ui/status/status-card.tsx";
import type { LocalMessage } from "../../types/messages.ts";
import { labelOf, Table } from "./panes.tsx";
import { ReasonText } from "./reason.tsx";
import { stateTone, stateWord, t } from "./texts.ts";

type Quality = LocalMessage["quality"][number];

/** The control runs and events of a message, and whether the server has them. */
export function QualityPane({ quality }: { quality: readonly Quality[] }) {
  const events = quality.flatMap(({ record, ...sent }) => (record.kind === "event" ? [{ record, sent }] : []));
  return (
    <>
      {quality.map(({ record, ...sent }, index) =>
        record.kind === "control" ? <ControlCard key={record.fp} run={record} sent={sent} index={index} /> : null,
      )}
      {events.length > 0 && (
        <section class="card">
          <h2>{t("events")}</h2>
          <Table
            label={t("events")}
            head={[t("time"), t("event"), t("subject"), t("lot"), t("expires"), t("count"), t("text"), t("server")]}
            rows={events.map(({ record, sent }) => [...eventCells(record), <Sent key={record.fp} of={sent} />])}
          />
        </section>
      )}
    </>
  );
}

function ControlCard({ run, sent, index }: { run: ControlRun; sent: Omit<Quality, "record">; index: number }) {
  const { measured_at, level, material, lot, expires, sample_ids, results } = run;
  return (
    <section class="card" aria-label={labelOf(t("control"), index)}>
      <div class="card-head">
        <h2>{t("control")}</h2>
        <Sent of={sent} />
      </div>
      <Facts
        inColumn
        of={[
          [t("sample"), sample_ids.join(", ")],
          [t("level"), level],
          [t("material"), material],
          [t("lot"), lot],
          [t("expires"), expires],
          [t("measured"), dateTime(measured_at)],
        ]}
      />
      <Table
        label={labelOf(t("controlValues"), index)}
        head={[t("code"), t("value"), t("unit"), t("target"), t("deviceFlag")]}
        rows={results.map(resultCells)}
      />
    </section>
  );
}

/** Whether the server has a record; else why not. */
function Sent({ of: { state, reason } }: { of: Omit<Quality, "record"> }) {
  return (
    <>
      <State tone={stateTone(state)}>{stateWord(state)}</State>{" "}
      {reason !== null && <ReasonText of={{ code: reason.code, reason: null }} />}
    </>
  );
}

function resultCells({ analyte, text, unit, target, device_flag }: ControlResult) {
  return [analyte, text, unitText(unit ?? ""), target === undefined ? null : targetText(target), device_flag ?? null];
}

/** `5 ± 0.2`, or `4.6–5.4`. */
function targetText({ mean, sd, low, high }: PrintedTarget): string {
  if (low !== undefined || high !== undefined) return `${low ?? ""}–${high ?? ""}`;
  return sd === undefined ? String(mean ?? "") : `${mean ?? ""} ± ${sd}`;
}

function eventCells({ at, event, subject, lot, expires, count, text }: DeviceEvent) {
  return [dateTime(at), t(event), subject, lot, expires, count === null ? null : String(count), text];
}
