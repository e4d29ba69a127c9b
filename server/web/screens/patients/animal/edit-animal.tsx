import { useLocation, useRoute } from "preact-iso";
import type { EditAnimalBody, EditedAnimal, SavedAnimal } from "../../../../dashboard/types/animals.ts";
import { call } from "../../../api.ts";
import { Loaded, useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { AnimalForm } from "./animal-form.tsx";
import { draftOf } from "./draft.ts";
import { LIST, notice } from "./undo.tsx";
import { t } from "./texts.ts";

/** The screen that changes an animal, which leads back to its page. */
export function EditAnimal() {
  const { route } = useLocation();
  const fp = useRoute().params["fp"] ?? "";
  const path = `/patients/${encodeURIComponent(fp)}`;
  // Once: what another user changes meanwhile is refused when this one saves.
  const edited = useResource<EditedAnimal>(`${path}/edit`, clinicPath(), false);
  const page = `${LIST}/${fp}`;
  return (
    <>
      <p>
        <a href={page}>{t("backTo", { name: edited.data?.animal.name ?? "" })}</a>
      </p>
      <h1>{t("editAnimal", { name: edited.data?.animal.name ?? "" })}</h1>
      <Loaded of={edited}>
        {({ animal, version, owner, is_shared, sources }) => (
          <>
            {is_shared && <p class="note">{t("shared")}</p>}
            {sources.length > 0 && <p class="note">{t("fromSoftware", { source: sources.join(", ") })}</p>}
            <AnimalForm
              start={draftOf(animal, owner)}
              edited={fp}
              save={(body) =>
                call<SavedAnimal>("PUT", clinicPath() + path, { ...body, version } satisfies EditAnimalBody)
              }
              done={({ batch }) => {
                if (batch !== null) notice.value = { at: page, text: t("saved"), batch };
                route(page);
              }}
              label={t("save")}
              labelIfAlike={t("save")}
            >
              <a href={page}>{t("cancel")}</a>
            </AnimalForm>
          </>
        )}
      </Loaded>
    </>
  );
}
