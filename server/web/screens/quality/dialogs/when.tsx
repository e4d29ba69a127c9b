import { instantOf, wallTime } from "../../../../dashboard/types/wall-time.ts";
import { timeZone } from "../../../text.ts";
import { Field } from "../../../ui/form/field.tsx";
import { t } from "./texts.ts";

// Times of the dialogs, in the clinic's time zone.

/** The text of a field of date and time for now, such as `2026-11-29T08:10`. */
export function nowText(): string {
  const { date, time } = wallTime(Date.now(), timeZone.value);
  return `${date}T${time}`;
}

/** Reads the text of a field of date and time. @returns null for a time that clocks skip */
export function instantText(text: string): string | null {
  const [date = "", time = ""] = text.split("T");
  const instant = instantOf(date, time, timeZone.value);
  return instant === null ? null : new Date(instant).toISOString();
}

/** A field of date and time, which refuses a time that clocks skip. */
export function TimeField({ label, text, change }: { label: string; text: string; change: (text: string) => void }) {
  return (
    <Field label={label} fault={text !== "" && instantText(text) === null ? t("noSuchTime") : null}>
      <input type="datetime-local" required value={text} onInput={({ currentTarget }) => change(currentTarget.value)} />
    </Field>
  );
}
