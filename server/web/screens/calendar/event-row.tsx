import { useState } from "preact/hooks";
import type { EventStatus } from "../../../../shared/api/calendar.ts";
import type { EventMove, ListedEvent } from "../../../dashboard/types/calendar.ts";
import { wallTime } from "../../../dashboard/types/wall-time.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { timeZone } from "../../text.ts";
import { Badge } from "../../ui/status/badge.tsx";
import { studyWord } from "../../ui/words/study-word.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { statusName, stepName, t, typeName } from "./texts.ts";

/** One event of a day, with its next step. */
export function EventRow({ event, reload }: { event: ListedEvent; reload: () => Promise<void> }) {
  const { run, retry, error, isRunning } = useAction();
  const [isCancelling, setCancelling] = useState(false);
  const [start, end] = [event.start_at, event.end_at].map((at) => wallTime(Date.parse(at), timeZone.value));
  const move = async (to: EventStatus) => {
    try {
      await call("POST", `${clinicPath()}/calendar/${event.fp}/move`, { to } satisfies EventMove);
    } finally {
      // Reload after a refusal too: another user has changed the event.
      await reload();
    }
  };
  const next = event.next_statuses.find((status) => status !== "CANCELLED");
  const isOver = event.next_statuses.length === 0;
  const title = event.title;
  return (
    <li class={isOver ? "calendar-event calendar-over" : "calendar-event"}>
      <span class="calendar-time">
        {start?.time}–{end?.time}
        {start?.date !== end?.date && <span class="quiet"> +1</span>}
      </span>
      <span class="calendar-what">
        <strong>{title}</strong> <span class="quiet">{typeName(event.type)}</span>
        <br />
        {event.patient === null ? (
          <span class="quiet">{t("noPatient")}</span>
        ) : (
          <>
            <a href={`/dashboard/patients/${event.patient.fp}`}>{event.patient.name}</a>{" "}
            <span class="quiet">{studyWord(event.patient.species)}</span>
          </>
        )}
        {event.assigned_user !== null && <span class="quiet"> · {event.assigned_user}</span>}
      </span>
      <Badge tone={isOver ? "done" : event.status === "SCHEDULED" ? "warning" : "active"}>
        {statusName(event.status)}
      </Badge>
      {may("staff") && !isOver && (
        <span class="actions calendar-steps">
          {next !== undefined && (
            <button type="button" disabled={isRunning} onClick={() => void run(() => move(next))}>
              {stepName(next)}
              <span class="visually-hidden">{title}</span>
            </button>
          )}
          <button type="button" class="danger" disabled={isRunning} onClick={() => setCancelling(true)}>
            {stepName("CANCELLED")}
            <span class="visually-hidden">{title}</span>
          </button>
        </span>
      )}
      {error !== undefined && <Problem error={error} retry={retry} />}
      {isCancelling && (
        <FormDialog
          title={t("cancelTitle")}
          button={stepName("CANCELLED")}
          isDangerous
          act={() => move("CANCELLED")}
          close={() => setCancelling(false)}
          leave={t("back")}
        >
          <p>{t("cancelText", { title, time: start?.time ?? "" })}</p>
        </FormDialog>
      )}
    </li>
  );
}
