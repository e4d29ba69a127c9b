import { useState } from "preact/hooks";
import type { ConnectionAnswer } from "../../../dashboard/types/connections.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { translations } from "../../text.ts";
import { FormDialog } from "./form-dialog.tsx";
import { useAction } from "../form/use-action.ts";

interface AnswerProps {
  readonly fp: string;
  readonly patient: string;
  readonly clinic: { readonly fp: string; readonly name: string };
  readonly answers: readonly ConnectionAnswer[];
  readonly reload: () => Promise<void>;
}

/** The buttons for a connection of another clinic that requests or sees a patient. All but "seen" need a confirmation. */
export function ConnectionAnswers({ fp, patient, clinic, answers, reload }: AnswerProps) {
  const [asked, setAsked] = useState<Exclude<ConnectionAnswer, "seen"> | null>(null);
  const { run, retry, error, isRunning } = useAction();
  const names = { patient, clinic: clinic.name };
  async function send(answer: ConnectionAnswer): Promise<void> {
    const path = `/patients/${encodeURIComponent(fp)}/other-clinics/${encodeURIComponent(clinic.fp)}/${answer}`;
    await call("POST", clinicPath() + path);
    await reload();
  }
  return (
    <>
      <span class="actions">
        {answers.map((answer) => (
          <button
            key={answer}
            type="button"
            disabled={isRunning}
            aria-label={`${t(answer)}: ${names.clinic}, ${patient}`}
            onClick={() => (answer === "seen" ? void run(() => send(answer)) : setAsked(answer))}
          >
            {t(answer)}
          </button>
        ))}
      </span>
      {error !== undefined && <Problem error={error} retry={retry} />}
      {asked !== null && (
        <FormDialog
          title={t(`${asked}Title`, names)}
          button={t(asked)}
          isDangerous={asked !== "confirm"}
          act={() => send(asked)}
          close={() => setAsked(null)}
        >
          <p>{t(`${asked}Why`, names)}</p>
        </FormDialog>
      )}
    </>
  );
}

const t = translations({
  confirm: ["Confirm", "Onayla"],
  confirmTitle: ["Let {clinic} see {patient}?", "{clinic} {patient} hastasını görsün mü?"],
  confirmWhy: [
    "{clinic} then sees the patient with all its studies and records. It says that the owner agreed.",
    "{clinic} hastayı tüm tetkik ve kayıtlarıyla görür. Hasta sahibinin kabul ettiğini bildiriyor.",
  ],
  refuse: ["Refuse", "Reddet"],
  refuseTitle: ["Refuse {clinic} the connection to {patient}?", "{clinic} için {patient} bağlantısı reddedilsin mi?"],
  refuseWhy: [
    "{clinic} sees nothing of the patient, and is told that this clinic refused.",
    "{clinic} hastanın hiçbir bilgisini görmez; bu kliniğin reddettiği kendisine bildirilir.",
  ],
  end: ["End the connection", "Bağlantıyı sonlandır"],
  endTitle: [
    "End the connection of {clinic} to {patient}?",
    "{clinic} kliniğinin {patient} bağlantısı sonlandırılsın mı?",
  ],
  endWhy: [
    "{clinic} then no longer sees the patient, its studies and records, and is told that this clinic ended it.",
    "{clinic} artık hastayı, tetkiklerini ve kayıtlarını görmez; bu kliniğin sonlandırdığı kendisine bildirilir.",
  ],
  seen: ["Seen", "Gördüm"],
});
