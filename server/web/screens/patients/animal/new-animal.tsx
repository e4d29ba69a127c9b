import { useLocation } from "preact-iso";
import type { NewAnimalBody, SavedAnimal, TypedAnimal, WaitingResult } from "../../../../dashboard/types/animals.ts";
import type { ListedPatient, PatientList } from "../../../../dashboard/types/patients.ts";
import { call } from "../../../api.ts";
import { Loaded, useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { Dialog } from "../../../ui/form-dialog/dialog.tsx";
import { CloseButton } from "../../../ui/form-dialog/dialog.tsx";
import { AnimalForm } from "./animal-form.tsx";
import { draftOf, emptyDraft } from "./draft.ts";
import { LIST, notice } from "./undo.tsx";
import { t } from "./texts.ts";

const add = (body: NewAnimalBody) => call<SavedAnimal>("POST", `${clinicPath()}/patients`, body);

/** The screen of a new animal, which leads to its page. */
export function NewAnimal() {
  const { route } = useLocation();
  return (
    <>
      <h1>{t("newAnimal")}</h1>
      <p class="quiet">{t("newIntro")}</p>
      <AnimalForm
        start={emptyDraft}
        edited={null}
        save={add}
        done={({ fp, batch }) => {
          notice.value = { at: `${LIST}/${fp}`, text: t("saved"), batch, isNew: true };
          route(`${LIST}/${fp}`);
        }}
        label={t("save")}
        labelIfAlike={t("saveAnyway")}
      >
        <a href="/dashboard/patients">{t("cancel")}</a>
      </AnimalForm>
    </>
  );
}

/** A new animal next to the choice of a patient, which then has it. */
export function NewAnimalDialog({ choose, close }: { choose: (patient: ListedPatient) => void; close: () => void }) {
  const chosen = async (fp: string) => {
    const { patients } = await call<PatientList>("GET", `${clinicPath()}/patients?search=${fp}`);
    const [patient] = patients;
    if (patient !== undefined) choose(patient);
    close();
  };
  return (
    <Dialog title={t("newAnimal")} close={close} class="animal-dialog">
      <p class="quiet">{t("newIntro")}</p>
      <AnimalForm
        start={emptyDraft}
        edited={null}
        save={add}
        done={({ fp }) => chosen(fp)}
        use={(fp) => void chosen(fp)}
        label={t("save")}
        labelIfAlike={t("saveAnyway")}
      >
        <CloseButton>{t("cancel")}</CloseButton>
      </AnimalForm>
    </Dialog>
  );
}

/** A new animal from what a device sent about it. Saving files the result to it. */
export function AnimalFromResult({
  result,
  filed,
  use,
  close,
}: {
  result: WaitingResult;
  filed: (saved: SavedAnimal, name: string) => void;
  use: (fp: string) => void;
  close: () => void;
}) {
  const said = useResource<TypedAnimal>(`/patients/from-result/${result.fp}`, clinicPath(), false);
  let name = "";
  return (
    <Dialog title={t("fromResult")} close={close} class="animal-dialog">
      <p class="quiet">{t("fromResultIntro")}</p>
      <Loaded of={said}>
        {(animal) => (
          <AnimalForm
            start={draftOf(animal, null)}
            edited={null}
            save={async (body) => {
              ({ name } = body.animal);
              return add({ ...body, result });
            }}
            done={(saved) => filed(saved, name)}
            use={use}
            label={t("saveAndFile")}
            labelIfAlike={t("saveAnywayAndFile")}
          >
            <CloseButton>{t("cancel")}</CloseButton>
          </AnimalForm>
        )}
      </Loaded>
    </Dialog>
  );
}
