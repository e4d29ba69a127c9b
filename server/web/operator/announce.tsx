import { useState } from "preact/hooks";
import { type Announcement, ANNOUNCEMENT_CHARS_MAX } from "../../dashboard/types/operator.ts";
import { instantOf, wallTime } from "../../dashboard/types/wall-time.ts";
import { call } from "../api.ts";
import { dateTime, language, translations } from "../text.ts";
import { Field } from "../ui/form/field.tsx";
import { FormDialog } from "../ui/form-dialog/form-dialog.tsx";

const DAY_MS = 86_400_000;

/** Shows what is announced, with the command that ends it. */
export function Announced({ of: announcement, changed }: { of: Announcement; changed: () => void }) {
  const [isEnding, setEnding] = useState(false);
  return (
    <div class="note">
      <p>
        {t("announced", { from: dateTime(announcement.from), until: dateTime(announcement.until) })}{" "}
        {language.value === "tr" ? announcement.turkish : announcement.english}
      </p>
      <button type="button" onClick={() => setEnding(true)}>
        {t("end")}
      </button>
      {isEnding && (
        <FormDialog
          title={t("endTitle")}
          close={() => setEnding(false)}
          act={async () => {
            await call("DELETE", "/announcement");
            changed();
          }}
          button={t("endIt")}
        >
          <p>{t("endWhat")}</p>
        </FormDialog>
      )}
    </div>
  );
}

interface DialogProps {
  /** The notice of now, which a new one replaces. */
  readonly of: Announcement | null;
  readonly close: () => void;
  readonly changed: () => void;
}

/** Asks for the notice in both languages, and for its span. */
export function AnnounceDialog({ of: announcement, close, changed }: DialogProps) {
  const [now] = useState(Date.now);
  const act = async ({ english = "", turkish = "", from = "", until = "" }: Record<string, string>) => {
    await call("PUT", "/announcement", { english, turkish, from: instant(from), until: instant(until) });
    changed();
  };
  return (
    <FormDialog title={t("title")} close={close} act={act} button={t("announce")}>
      <p>{t("what")}</p>
      <Field label={t("english")}>
        <textarea
          name="english"
          lang="en"
          required
          maxLength={ANNOUNCEMENT_CHARS_MAX}
          defaultValue={announcement?.english}
        />
      </Field>
      <Field label={t("turkish")}>
        <textarea
          name="turkish"
          lang="tr"
          required
          maxLength={ANNOUNCEMENT_CHARS_MAX}
          defaultValue={announcement?.turkish}
        />
      </Field>
      <Field label={t("from")}>
        <input name="from" type="datetime-local" required defaultValue={fieldText(announcement?.from, now)} />
      </Field>
      <Field label={t("until")}>
        <input
          name="until"
          type="datetime-local"
          required
          defaultValue={fieldText(announcement?.until, now + DAY_MS)}
        />
      </Field>
    </FormDialog>
  );
}

/** The text of a field of date and time, in the time zone of this computer. */
function fieldText(given: string | undefined, otherwise: number): string {
  const { date, time } = wallTime(given === undefined ? otherwise : Date.parse(given), undefined);
  return `${date}T${time}`;
}

/** Reads such a text. A time that clocks skip is one that the server refuses. */
function instant(text: string): string {
  const [date = "", time = ""] = text.split("T");
  const found = instantOf(date, time, undefined);
  return found === null ? text : new Date(found).toISOString();
}

const t = translations({
  title: ["Announce to all clinics", "Tüm kliniklere duyur"],
  what: [
    "The dashboard of every clinic shows the notice above each page, until it ends or the user closes it. It replaces the last one.",
    "Her kliniğin paneli duyuruyu, süresi bitene ya da kullanıcı kapatana kadar her sayfanın üstünde gösterir. Öncekinin yerini alır.",
  ],
  english: ["English text", "İngilizce metin"],
  turkish: ["Turkish text", "Türkçe metin"],
  from: ["From", "Başlangıç"],
  until: ["Until", "Bitiş"],
  announce: ["Announce", "Duyur"],
  announced: ["Announced from {from} until {until}:", "{from} – {until} arasında duyuruluyor:"],
  end: ["End the announcement…", "Duyuruyu bitir…"],
  endTitle: ["End the announcement?", "Duyuru bitirilsin mi?"],
  endWhat: [
    "Open pages of the clinics stop showing it within a minute.",
    "Kliniklerin açık sayfaları onu bir dakika içinde göstermez olur.",
  ],
  endIt: ["End it", "Bitir"],
});
