import { useRef, useState } from "preact/hooks";
import type { StudyPage } from "../../../dashboard/types/results/results.ts";
import {
  LINK_DAYS,
  type LinkDays,
  type MadeLink,
  type MailResult,
  type NewLinkBody,
  type ReportMailBody,
  type SharingState,
  USUAL_DAYS,
} from "../../../dashboard/types/results/sharing.ts";
import { mailText } from "../../../dashboard/types/settings/mail-server.ts";
import { call } from "../../api.ts";
import { clinicPath } from "../../session.ts";
import { dateTime, language as pageLanguage } from "../../text.ts";
import { copyText } from "../../ui/form/copy-text.ts";
import { Field } from "../../ui/form/field.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { CloseButton, Dialog } from "../../ui/form-dialog/dialog.tsx";
import { t } from "./texts.ts";

interface Props {
  readonly study: StudyPage;
  /** The time zone of printed times. */
  readonly zone: string;
  readonly state: SharingState;
  readonly close: () => void;
}

/** Shares the report: by a link that ends, or by e-mail. */
export function ShareDialog({ study: shown, zone, state, close }: Props) {
  // The study as it was when the dialog opened: the server refuses to share another revision, such as one of another animal.
  const [study] = useState(shown);
  const isFar = state.reach === "internet";
  const [way, setWay] = useState<"link" | "mail">(isFar || !state.sends_mail ? "link" : "mail");
  const [made, setMade] = useState<MadeLink | null>(null);
  const [outcome, setOutcome] = useState<MailResult | null>(null);
  const title = t("shareOf", { name: study.patient?.name ?? "" });
  if (made !== null) return <MadeLinkDialog title={title} made={made} state={state} close={close} />;
  const path = `${clinicPath()}/results/${study.fp}`;
  const act = async ({ days = "", to = "", language = "" }: Record<string, string>) => {
    setOutcome(null);
    const shared = {
      ...{ revision: study.revision, zone },
      language: language === "tr" ? ("tr" as const) : ("en" as const),
    };
    if (way === "link") {
      const body: NewLinkBody = { ...shared, days: Number(days) as LinkDays };
      setMade(await call<MadeLink>("POST", `${path}/links`, body));
    } else {
      const body: ReportMailBody = { ...shared, to };
      setOutcome(await call<MailResult>("POST", `${path}/report-mail`, body));
    }
  };
  return (
    <FormDialog
      title={title}
      button={t(way === "link" ? "makeLink" : "send")}
      isReady={way === "link" || state.sends_mail}
      leave={t("close")}
      act={act}
      close={close}
      staysOpen
    >
      <fieldset>
        <legend>{t("how")}</legend>
        {(["link", "mail"] as const).map((one) => (
          <label key={one} class="check">
            <input type="radio" name="way" value={one} checked={way === one} onChange={() => setWay(one)} />
            <span>{t(one === "link" ? "byLink" : "byMail")}</span>
          </label>
        ))}
      </fieldset>
      <Field label={t("language")}>
        <select name="language">
          {(["en", "tr"] as const).map((one) => (
            <option key={one} value={one} selected={one === (state.owner?.language ?? pageLanguage.value)}>
              {t(one === "tr" ? "turkish" : "english")}
            </option>
          ))}
        </select>
      </Field>
      {way === "link" ? <LinkFields state={state} /> : <MailFields state={state} />}
      <p role="status" class={outcome?.ok === false ? "fault" : undefined}>
        {outcome !== null && `${t(outcome.ok ? "sent" : "notSent")} ${mailText(outcome.reason, pageLanguage.value)}`}
      </p>
    </FormDialog>
  );
}

function LinkFields({ state }: { state: SharingState }) {
  return (
    <>
      <Field label={t("days")} hint={t("linkWhy")}>
        <select name="days">
          {LINK_DAYS.map((days) => (
            <option key={days} value={String(days)} selected={days === USUAL_DAYS}>
              {t("forDays", { days })}
            </option>
          ))}
        </select>
      </Field>
      <ReachNote state={state} />
    </>
  );
}

function ReachNote({ state: { reach, origin } }: { state: SharingState }) {
  if (reach === "internet") return null;
  return <p class="note">{t(reach === "this machine" ? "thisMachine" : "clinicNetwork", { origin })}</p>;
}

function MailFields({ state: { owner, sends_mail } }: { state: SharingState }) {
  const email = owner?.email ?? null;
  if (!sends_mail) return <p class="note">{t("noMail")}</p>;
  return (
    <Field label={t("to")} hint={email === null ? t("toNobody") : t("toOwner", { name: owner?.name ?? email })}>
      <input name="to" type="email" maxLength={254} autocomplete="off" required defaultValue={email ?? ""} />
    </Field>
  );
}

function MadeLinkDialog({
  title,
  made,
  state,
  close,
}: {
  title: string;
  made: MadeLink;
  state: SharingState;
  close: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const [outcome, setOutcome] = useState<"copied" | "copyYourself" | null>(null);
  const copy = async () => {
    if (field.current !== null) setOutcome((await copyText(field.current)) ? "copied" : "copyYourself");
  };
  return (
    <Dialog title={title} close={close} foot={<CloseButton />}>
      <Field label={t("link")} hint={t("linkOnce", { until: dateTime(made.ends_at) })}>
        <input ref={field} readOnly value={made.url} />
      </Field>
      <p class="actions">
        <button type="button" class="primary" onClick={() => void copy()}>
          {t("copy")}
        </button>
        <span role="status">{outcome !== null && t(outcome)}</span>
      </p>
      <ReachNote state={state} />
    </Dialog>
  );
}
