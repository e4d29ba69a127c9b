import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { NamedPatient } from "../../../dashboard/types/records.ts";
import type { MoveBody, StudyPage } from "../../../dashboard/types/results/results.ts";
import type { NewRevision, ReopenBody } from "../../../dashboard/types/results/unmatched.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath, may } from "../../session.ts";
import { language } from "../../text.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { formValues } from "../../ui/form.ts";
import { PatientPicker } from "../../ui/patient-picker.tsx";
import { studyWord } from "../../ui/study-word.ts";
import { useAction } from "../../ui/use-action.ts";
import { word } from "../../ui/words.ts";
import { t } from "./study-texts.ts";

// Where a study is filed, and for which animal it was flagged: what a person corrects on its page.

interface PlaceProps {
  readonly study: StudyPage;
  readonly reload: () => Promise<void>;
}

function useCommand({ study, reload }: PlaceProps) {
  const action = useAction();
  const send = (name: string, body: MoveBody | ReopenBody) =>
    action.run(async () => {
      try {
        await call<NewRevision>("POST", `${clinicPath()}/results/${study.fp}/${name}`, body);
      } finally {
        await reload();
      }
    });
  return { action, send };
}

/** Says what a person may have to correct: flags for other facts of the animal, and a move that can be undone. */
export function PlaceNotices(props: PlaceProps) {
  const { study } = props;
  const { action, send } = useCommand(props);
  const { flagged_for: before, patient, can, revision } = study;
  const mayAct = may("staff");
  return (
    <>
      {before !== null && patient !== null && (
        <div class="banner" role="status">
          {t("flaggedFor", { before: factsText(before), now: factsText(patient) })}{" "}
          {can.flag && mayAct && (
            <button
              type="button"
              class="no-print"
              disabled={action.isRunning}
              onClick={() => void send("flag-again", { revision })}
            >
              {t("flagAgain")}
            </button>
          )}
        </div>
      )}
      {can.undo && mayAct && (
        <p class="banner no-print">
          {study.place.kind === "unmatched" ? t("wasTakenBack") : t("wasMoved")}{" "}
          <button type="button" disabled={action.isRunning} onClick={() => void send("undo-move", { revision })}>
            {t("undo")}
          </button>
        </p>
      )}
      {action.error !== undefined && <Problem error={action.error} />}
    </>
  );
}

function factsText({ species, breed = null, sex, date_of_birth }: NonNullable<StudyPage["flagged_for"]>): string {
  return [studyWord(species), breed, word(sex ?? ""), date_of_birth].filter(Boolean).join(", ");
}

/** The button that opens the dialog for a study of the wrong animal. */
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

/** Asks for the right animal, or none, and for the reason. */
function MoveDialog({ close, ...props }: PlaceProps & { close: () => void }) {
  const { study } = props;
  // The revision that the user saw when the dialog opened.
  const [revision] = useState(study.revision);
  const [chosen, choose] = useState<NamedPatient | null>(null);
  const { action, send } = useCommand(props);
  const { route } = useLocation();

  async function submit(event: SubmitEvent): Promise<void> {
    const { reason = "", species } = formValues(event);
    const typed =
      chosen === null || species === undefined || species === "" ? {} : typedSpecies(species, chosen.species);
    if (!(await send("move", { revision, patient_fp: chosen?.fp ?? null, reason, ...typed }))) return;
    close();
    if (chosen === null) route(`/dashboard/to-place/${study.fp}`);
  }
  const stated = study.hint?.species ?? null;
  return (
    <Dialog title={t("wrongAnimal")} close={close}>
      <form onSubmit={(event) => void submit(event)}>
        <p>{t("moveWhy", { name: study.patient?.name ?? "" })}</p>
        <PatientPicker chosen={chosen} choose={choose} />
        <Field label={t("moveReason")} hint={t("moveReasonHint")}>
          <input name="reason" required maxLength={200} autocomplete="off" />
        </Field>
        {chosen !== null && stated !== null && action.error?.reason === "MATCH.OTHER_SPECIES" && (
          <Field label={t("moveSpecies", { stated, species: studyWord(chosen.species) })}>
            <input name="species" maxLength={100} autocomplete="off" autocapitalize="none" spellcheck={false} />
          </Field>
        )}
        {action.error !== undefined && <Problem error={action.error} />}
        <div class="actions">
          <button type="submit" class="danger" disabled={action.isRunning}>
            {chosen === null ? t("takeBack") : t("moveTo", { name: chosen.name })}
          </button>
          <button type="button" onClick={close}>
            {t("cancel")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The page's word for the patient's species becomes the one of the API. */
function typedSpecies(typed: string, species: string): { typed_species: string } {
  const isWord = typed.trim().toLocaleLowerCase(language.value) === studyWord(species);
  return { typed_species: isWord ? species : typed };
}
