import { useState } from "preact/hooks";
import type { EventStatus } from "../../../../shared/api/calendar.ts";
import type { EventMove, EventUndo, ListedEvent } from "../../../dashboard/types/calendar.ts";
import { wallTime } from "../../../dashboard/types/wall-time.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { timeZone } from "../../text.ts";
import { Badge } from "../../ui/status/badge.tsx";
import { studyWord } from "../../ui/words/study-word.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { shortDay, statusName, stepName, t, typeName } from "./texts.ts";
import { partOfDay, spanOf } from "./times.ts";

interface EventRowProps {
  readonly event: ListedEvent;
  /** The day of the list: a stay of several is on each of its days. */
  readonly day: string;
  readonly reload: () => Promise<void>;
  readonly edit: () => void;
}

/** One event of a day, with its next step. */
export function EventRow({ event, day, reload, edit }: EventRowProps) {
  const { run, retry, error, isRunning } = useAction();
  const [isCancelling, setCancelling] = useState(false);
  const step = async (name: "move" | "undo", body: EventMove | EventUndo) => {
    try {
      await call("POST", `${clinicPath()}/calendar/${event.fp}/${name}`, body);
    } finally {
      // Reload after a refusal too: another user has changed the event.
      await reload();
    }
  };
  const move = (to: EventStatus) => step("move", { to });
  const next = event.next_statuses.find((status) => status !== "CANCELLED");
  const isOver = event.next_statuses.length === 0;
  const { title, status, source, previous_status: previous } = event;
  return (
    <li class={isOver ? "calendar-event calendar-over" : "calendar-event"}>
      <Facts event={event} day={day} />
      <Badge tone={isOver ? "done" : status === "SCHEDULED" ? "warning" : "active"}>{statusName(status)}</Badge>
      {may("staff") && (
        <span class="actions calendar-steps">
          {next !== undefined && (
            <Step name={stepName(next)} of={title} isRunning={isRunning} act={() => run(() => move(next))} />
          )}
          {source === null && status !== "CANCELLED" && (
            <Step name={t("edit")} of={title} isRunning={isRunning} act={edit} />
          )}
          {previous !== null && (
            <Step
              name={t("undo")}
              of={t("undoTo", { title, status: statusName(previous) })}
              isRunning={isRunning}
              act={() => run(() => step("undo", { from: status }))}
            />
          )}
          {!isOver && (
            <Step
              name={stepName("CANCELLED")}
              of={title}
              isRunning={isRunning}
              isDangerous
              act={() => setCancelling(true)}
            />
          )}
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
          <p>{t("cancelText", { title, time: wallTime(Date.parse(event.start_at), timeZone.value).time })}</p>
        </FormDialog>
      )}
    </li>
  );
}

function Facts({ event, day }: { event: ListedEvent; day: string }) {
  const { title, type, patient, assigned_user, source } = event;
  return (
    <>
      <TimesOfDay event={event} day={day} />
      <span class="calendar-what">
        <strong>{title}</strong> <span class="quiet">{typeName(type)}</span>
        <br />
        {patient === null ? (
          <span class="quiet">{t("noPatient")}</span>
        ) : (
          <>
            <a href={`/dashboard/patients/${patient.fp}`}>{patient.name}</a>{" "}
            <span class="quiet">{studyWord(patient.species)}</span>
          </>
        )}
        {assigned_user !== null && <span class="quiet"> · {assigned_user}</span>}
        {source !== null && (
          <>
            <br />
            <span class="quiet">{t("ofSoftware", { source })}</span>
          </>
        )}
      </span>
    </>
  );
}

/** The times of a day; a stay of several days adds when it began, or when it ends. */
function TimesOfDay({ event, day }: { event: ListedEvent; day: string }) {
  const zone = timeZone.value;
  const span = spanOf(event);
  const { from, to } = partOfDay(span, day, zone) ?? { from: null, to: null };
  if (from !== null && to !== null) {
    return (
      <span class="calendar-time">
        {from}–{to}
      </span>
    );
  }
  const at = (instant: number) => {
    const { date, time } = wallTime(instant, zone);
    return `${shortDay(date)} ${time}`;
  };
  return (
    <span class="calendar-time">
      {from ?? (to === null ? t("allDay") : t("until", { time: to }))}
      <br />
      <span class="quiet">
        {from === null ? t("since", { time: at(span.start) }) : t("until", { time: at(span.end) })}
        {from === null && to === null && `, ${t("until", { time: at(span.end) })}`}
      </span>
    </span>
  );
}

function Step({
  name,
  of,
  isRunning,
  isDangerous = false,
  act,
}: {
  name: string;
  /** Distinguishes the button from those of other events. */
  of: string;
  isRunning: boolean;
  isDangerous?: boolean;
  act: () => unknown;
}) {
  return (
    <button type="button" class={isDangerous ? "danger" : undefined} disabled={isRunning} onClick={() => void act()}>
      {name} <span class="visually-hidden">{of}</span>
    </button>
  );
}
