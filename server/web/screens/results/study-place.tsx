import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { NamedPatient } from "../../../dashboard/types/records.ts";
import type { MoveBody, Place, StudyPage } from "../../../dashboard/types/results/results.ts";
import type { NewRevision, ReopenBody, WithdrawBody } from "../../../dashboard/types/results/unmatched.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { language } from "../../text.ts";
import { Field } from "../../ui/form/field.tsx";
import { PatientPicker } from "../../ui/form/patient-picker.tsx";
import { studyWord } from "../../ui/words/study-word.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { word } from "../../ui/words/words.ts";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { t } from "./study-texts.ts";

// The patient under which a study is filed, the animal for which it was flagged, and their corrections.

interface PlaceProps {
  readonly study: StudyPage;
  readonly reload: () => Promise<void>;
}

/** Sends a command on the study, and reloads the study, also after a refusal. */
async function command(
  { study, reload }: PlaceProps,
  name: string,
  body: MoveBody | ReopenBody | WithdrawBody,
): Promise<void> {
  try {
    await call<NewRevision>("POST", `${clinicPath()}/results/${study.fp}/${name}`, body);
  } finally {
    await reload();
  }
}

/** Shows what may need a correction: flags based on other facts of the animal, or a move that can be undone. */
export function PlaceNotices(props: PlaceProps) {
  const { study } = props;
  const action = useAction();
  const send = (name: string) => void action.run(async () => command(props, name, { revision }));
  const { flagged_for: before, patient, can, revision } = study;
  const mayAct = may("staff");
  return (
    <>
      {before !== null && patient !== null && (
        <div class="note" role="status">
          {t("flaggedFor", { before: factsText(before), now: factsText(patient) })}{" "}
          {can.flag && mayAct && (
            <button type="button" class="no-print" disabled={action.isRunning} onClick={() => send("flag-again")}>
              {t("flagAgain")}
            </button>
          )}
        </div>
      )}
      {can.undo && mayAct && (
        <p class="note no-print">
          {t(UNDONE[study.place.kind] ?? "wasMoved")}{" "}
          <button type="button" disabled={action.isRunning} onClick={() => send("undo-move")}>
            {t("undo")}
          </button>
        </p>
      )}
      {action.error !== undefined && <Problem error={action.error} retry={action.retry} />}
    </>
  );
}

/** Names the step that the undo takes back. */
const UNDONE: Partial<Record<Place["kind"], "wasTakenBack" | "wasWithdrawn">> = {
  unmatched: "wasTakenBack",
  rejected: "wasWithdrawn",
};

function factsText({ species, breed = null, sex, date_of_birth }: NonNullable<StudyPage["flagged_for"]>): string {
  return [studyWord(species), breed, word(sex ?? ""), date_of_birth].filter(Boolean).join(", ");
}

/** The link and the button that correct and remove a study that somebody typed. */
export function TypedActions(props: PlaceProps) {
  const { study } = props;
  const [isOpen, setOpen] = useState(false);
  if (!study.is_typed || !study.can.move || !may("staff")) return null;
  return (
    <>
      <a class="button" href={`/dashboard/manual-study/${study.fp}`}>
        {t("correct")}
      </a>
      <button type="button" onClick={() => setOpen(true)}>
        {t("withdraw")}
      </button>
      {isOpen && <WithdrawDialog {...props} close={() => setOpen(false)} />}
    </>
  );
}

/** Asks why a typed study is withdrawn. */
function WithdrawDialog({ close, ...props }: PlaceProps & { close: () => void }) {
  // The revision shown when the dialog opened.
  const [revision] = useState(props.study.revision);
  const withdraw = ({ reason = "" }: Record<string, string>) => command(props, "withdraw", { revision, reason });
  return (
    <FormDialog title={t("withdraw")} close={close} act={withdraw} button={t("withdraw")} isDangerous>
      <p>{t("withdrawWhy")}</p>
      <Field label={t("moveReason")} hint={t("moveReasonHint")}>
        <input name="reason" required maxLength={200} autocomplete="off" />
      </Field>
    </FormDialog>
  );
}

/** The button that opens the dialog for a study filed under the wrong patient. */
export function WrongAnimal(props: PlaceProps) {
  const [isOpen, setOpen] = useState(false);
  if (!props.study.can.move || !may("staff")) return null;
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {t("wrongAnimal")}
      </button>
      {isOpen && <MoveDialog {...props} close={() => setOpen(false)} />}
    </>
  );
}

/** The dialog for the right patient, or none, and the reason. */
function MoveDialog({ close, ...props }: PlaceProps & { close: () => void }) {
  const { study } = props;
  // The revision shown when the dialog opened.
  const [revision] = useState(study.revision);
  const [chosen, choose] = useState<NamedPatient | null>(null);
  const { route } = useLocation();
  const move = async ({ reason = "", species = "" }: Record<string, string>) => {
    const typed = chosen === null || species === "" ? {} : typedSpecies(species, chosen.species);
    await command(props, "move", { revision, patient_fp: chosen?.fp ?? null, reason, ...typed });
    close();
    if (chosen === null) route(`/dashboard/to-place/${study.fp}`);
  };
  const stated = study.hint?.species ?? null;
  return (
    <FormDialog
      title={t("wrongAnimal")}
      close={close}
      act={move}
      button={chosen === null ? t("takeBack") : t("moveTo", { name: chosen.name })}
      isDangerous
      staysOpen
    >
      {(error) => (
        <>
          <p>{t("moveWhy", { name: study.patient?.name ?? "" })}</p>
          <PatientPicker chosen={chosen} choose={choose} />
          <Field label={t("moveReason")} hint={t("moveReasonHint")}>
            <input name="reason" required maxLength={200} autocomplete="off" />
          </Field>
          {chosen !== null && stated !== null && error?.refusal?.code === "MATCH.OTHER_SPECIES" && (
            <Field label={t("moveSpecies", { stated, species: studyWord(chosen.species) })}>
              <input name="species" maxLength={100} autocomplete="off" autocapitalize="none" spellcheck={false} />
            </Field>
          )}
        </>
      )}
    </FormDialog>
  );
}

/** Converts a species in the page's language to the API's word. */
function typedSpecies(typed: string, species: string): { typed_species: string } {
  const isWord = typed.trim().toLocaleLowerCase(language.value) === studyWord(species);
  return { typed_species: isWord ? species : typed };
}
