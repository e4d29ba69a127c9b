import { useState } from "preact/hooks";
import type { EventType } from "../../../../shared/api/calendar.ts";
import type { EditedEvent, EventList, ListedEvent, NewEvent, SeenEvent } from "../../../dashboard/types/calendar.ts";
import type { NamedPatient } from "../../../dashboard/types/records.ts";
import { call, RequestError } from "../../api.ts";
import { clinicPath } from "../../session.ts";
import { timeZone } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { PatientPicker } from "../../ui/form/patient-picker.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { NewAnimalDialog } from "../patients/animal/new-animal.tsx";
import { EventLine } from "./event-line.tsx";
import { t, typeName, types } from "./texts.ts";
import { printTimes, readTimes, type Span, spanOf, type Times, withStart } from "./times.ts";
import { useOverlaps } from "./use-overlaps.ts";

interface Draft extends Times {
  readonly title: string;
  readonly type: EventType;
  readonly patient: NamedPatient | null;
  /** The fp or the name of who is responsible; empty for nobody. */
  readonly assigned: string;
}

interface EventFormProps extends Pick<EventList, "users" | "members"> {
  /** The day of a new event. */
  readonly day: string;
  /** The event that is edited, as it is now; null for a new one. */
  readonly event: ListedEvent | null;
  readonly reload: () => Promise<void>;
  /** Called with the start of the saved event. */
  readonly saved: (start: number) => void;
  readonly close: () => void;
}

/** Adds an event, or changes one and its time. Times are in the clinic's time zone. */
export function EventForm({ day, event, users, members, reload, saved, close }: EventFormProps) {
  const zone = timeZone.value;
  const [opened] = useState(event);
  const [span] = useState<Span | null>(opened && spanOf(opened));
  const [draft, setDraft] = useState<Draft>(() => draftOf(opened, day, zone));
  const [isAdding, setAdding] = useState(false);
  const [isChecked, setChecked] = useState(false);
  const [isOutdated, setOutdated] = useState(false);
  const change = (changed: Partial<Draft>) => setDraft((before) => ({ ...before, ...changed }));
  const { start, end } = readTimes(draft, zone, span);
  const fault = start === null || end === null ? t("skipped") : end > start ? null : t("reversed");
  const times =
    start === null || end === null || fault !== null
      ? null
      : { start_at: new Date(start).toISOString(), end_at: new Date(end).toISOString() };
  const patient_fp = draft.patient?.fp ?? null;
  const planned = times && { ...times, patient_fp, assigned: draft.assigned || null, edited: opened?.fp ?? null };
  const overlaps = useOverlaps(planned);
  const save = async () => {
    setChecked(true);
    if (times === null || start === null) return;
    // The user looks at what is new here first, and then saves all the same.
    if (await overlaps.hasUnseen()) return;
    const { title, type, assigned } = draft;
    const body: NewEvent = {
      ...{ title, type, ...times, patient_fp },
      ...(members.includes(assigned)
        ? { assigned_user_fp: null, assigned_member: assigned }
        : { assigned_user_fp: assigned || null }),
    };
    try {
      await store(body, (isOutdated ? event : null) ?? opened);
    } catch (failed) {
      if (failed instanceof RequestError && failed.refusal?.code === "EVENT.CHANGED") {
        await reload();
        setOutdated(true);
      }
      throw failed;
    }
    close();
    saved(start);
    await reload();
  };
  const button = opened === null ? "add" : "save";
  return (
    <>
      <FormDialog
        title={t(opened === null ? "newEvent" : "editEvent")}
        close={close}
        act={save}
        button={t(overlaps.shown.length === 0 ? button : `${button}Anyway`)}
        staysOpen
        leave={t("back")}
      >
        <What draft={draft} change={change} />
        <When
          draft={draft}
          setStart={(at) => change(withStart(draft, at, zone, span))}
          setEnd={(at) => change({ end: at })}
          fault={isChecked ? fault : null}
        />
        <PatientPicker chosen={draft.patient} choose={(patient) => change({ patient })} add={() => setAdding(true)} />
        <Who draft={draft} change={change} users={users} members={members} />
        <SameTime events={overlaps.shown} />
        {isOutdated && event !== null && <Now event={event} />}
      </FormDialog>
      {isAdding && <NewAnimalDialog choose={(patient) => change({ patient })} close={() => setAdding(false)} />}
    </>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly change: (changed: Partial<Draft>) => void;
}

function What({ draft: { title, type }, change }: FieldsProps) {
  return (
    <>
      <Field label={t("title")}>
        <input
          required
          maxLength={500}
          autocomplete="off"
          value={title}
          onInput={({ currentTarget }) => change({ title: currentTarget.value })}
        />
      </Field>
      <Field label={t("type")}>
        <select value={type} onChange={({ currentTarget }) => change({ type: currentTarget.value as EventType })}>
          {types.map((one) => (
            <option key={one} value={one}>
              {typeName(one)}
            </option>
          ))}
        </select>
      </Field>
    </>
  );
}

function When({
  draft: { start, end },
  setStart,
  setEnd,
  fault,
}: {
  draft: Times;
  setStart: (start: string) => void;
  setEnd: (end: string) => void;
  fault: string | null;
}) {
  return (
    <div class="calendar-span">
      <Field label={t("start")}>
        <input
          type="datetime-local"
          required
          value={start}
          onInput={({ currentTarget }) => setStart(currentTarget.value)}
        />
      </Field>
      <Field label={t("end")} fault={fault}>
        <input
          type="datetime-local"
          required
          value={end}
          onInput={({ currentTarget }) => setEnd(currentTarget.value)}
        />
      </Field>
    </div>
  );
}

function Who({ draft, change, users, members }: FieldsProps & Pick<EventList, "users" | "members">) {
  return (
    <Field label={t("assigned")}>
      <select value={draft.assigned} onChange={({ currentTarget }) => change({ assigned: currentTarget.value })}>
        <option value="">{t("nobody")}</option>
        {users.map(({ fp, name }) => (
          <option key={fp} value={fp}>
            {name}
          </option>
        ))}
        {members.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** A warning, which stops nobody. */
function SameTime({ events }: { events: readonly ListedEvent[] }) {
  return (
    <div role="status">
      {events.length > 0 && (
        <div class="note calendar-same">
          <strong>{t("sameTime")}</strong>
          <ul>
            {events.map((event) => (
              <li key={event.fp}>
                <EventLine event={event} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function Now({ event }: { event: ListedEvent }) {
  return (
    <div class="note calendar-same">
      <strong>{t("now")}</strong>
      <p>
        <EventLine event={event} isWhole />
      </p>
      <p>{t("saveOver")}</p>
    </div>
  );
}

async function store(body: NewEvent, seen: ListedEvent | null): Promise<void> {
  if (seen === null) await call("POST", `${clinicPath()}/calendar`, body);
  else await call("PUT", `${clinicPath()}/calendar/${seen.fp}`, { ...body, seen: seenOf(seen) } satisfies EditedEvent);
}

function draftOf(event: ListedEvent | null, day: string, zone: string | undefined): Draft {
  if (event === null) {
    const times = { start: `${day}T09:00`, end: `${day}T09:30` };
    return { title: "", type: "APPOINTMENT", ...times, patient: null, assigned: "" };
  }
  const { title, type, patient, assigned_user_fp } = event;
  return { title, type, patient, assigned: assigned_user_fp ?? "", ...printTimes(spanOf(event), zone) };
}

function seenOf({ title, type, status, start_at, end_at, patient, assigned_user_fp }: ListedEvent): SeenEvent {
  return { title, type, status, start_at, end_at, patient_fp: patient?.fp ?? null, assigned_user_fp };
}
