import { useState } from "preact/hooks";
import type { EventType } from "../../../../shared/api/calendar.ts";
import type { EventList, NewEvent as NewEventBody } from "../../../dashboard/types/calendar.ts";
import type { NamedPatient } from "../../../dashboard/types/records.ts";
import { instantOf, wallTime } from "../../../dashboard/types/wall-time.ts";
import { call } from "../../api.ts";
import { clinicPath } from "../../session.ts";
import { timeZone } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { PatientPicker } from "../../ui/form/patient-picker.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { NewAnimalDialog } from "../patients/animal/new-animal.tsx";
import { t, typeName, types } from "./texts.ts";

const LENGTH_MS = 30 * 60_000;

interface Times {
  start: string;
  end: string;
}

/** Adds an event. Its times are in the clinic's time zone. */
export function NewEvent({
  day,
  users,
  members,
  reload,
  close,
}: {
  day: string;
  users: EventList["users"];
  members: EventList["members"];
  reload: () => Promise<void>;
  close: () => void;
}) {
  const [patient, choosePatient] = useState<NamedPatient | null>(null);
  const [times, setTimes] = useState<Times>({ start: `${day}T09:00`, end: `${day}T09:30` });
  const [isAdding, setAdding] = useState(false);
  const [isChecked, setChecked] = useState(false);
  const fault = faultOf(times);
  const add = async ({ title = "", type = "", assigned = "" }: Record<string, string>) => {
    setChecked(true);
    const [start, end] = [read(times.start), read(times.end)];
    if (start === null || end === null || fault !== null) return;
    const body: NewEventBody = {
      ...{ title, type: type as EventType, patient_fp: patient?.fp ?? null },
      ...{ start_at: new Date(start).toISOString(), end_at: new Date(end).toISOString() },
      ...(members.includes(assigned)
        ? { assigned_user_fp: null, assigned_member: assigned }
        : { assigned_user_fp: assigned || null }),
    };
    await call("POST", `${clinicPath()}/calendar`, body);
    close();
    await reload();
  };
  return (
    <>
      <FormDialog title={t("newEvent")} close={close} act={add} button={t("add")} staysOpen leave={t("back")}>
        <Field label={t("title")}>
          <input name="title" required maxLength={500} autocomplete="off" />
        </Field>
        <Field label={t("type")}>
          <select name="type">
            {types.map((type) => (
              <option key={type} value={type}>
                {typeName(type)}
              </option>
            ))}
          </select>
        </Field>
        <Span times={times} set={setTimes} fault={isChecked ? fault : null} />
        <PatientPicker chosen={patient} choose={choosePatient} add={() => setAdding(true)} />
        <Field label={t("assigned")}>
          <select name="assigned">
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
      </FormDialog>
      {isAdding && <NewAnimalDialog choose={choosePatient} close={() => setAdding(false)} />}
    </>
  );
}

/** Start and end. A change of the start moves the end, which keeps the length. */
function Span({ times, set, fault }: { times: Times; set: (times: Times) => void; fault: string | null }) {
  const setStart = (start: string) => {
    const [from, to, next] = [read(times.start), read(times.end), read(start)];
    const length = from !== null && to !== null && to > from ? to - from : LENGTH_MS;
    set({ start, end: next === null ? times.end : print(next + length) });
  };
  return (
    <div class="calendar-span">
      <Field label={t("start")}>
        <input
          type="datetime-local"
          required
          value={times.start}
          onInput={({ currentTarget }) => setStart(currentTarget.value)}
        />
      </Field>
      <Field label={t("end")} fault={fault}>
        <input
          type="datetime-local"
          required
          value={times.end}
          onInput={({ currentTarget }) => set({ ...times, end: currentTarget.value })}
        />
      </Field>
    </div>
  );
}

function faultOf({ start, end }: Times): string | null {
  const [from, to] = [read(start), read(end)];
  if (from === null || to === null) return t("skipped");
  return to > from ? null : t("reversed");
}

function read(local: string): number | null {
  const [date = "", time = ""] = local.split("T");
  return instantOf(date, time.slice(0, 5), timeZone.value);
}

function print(instant: number): string {
  const { date, time } = wallTime(instant, timeZone.value);
  return `${date}T${time}`;
}
