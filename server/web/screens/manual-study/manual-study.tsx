import { useRoute } from "preact-iso";
import { useEffect, useRef, useState } from "preact/hooks";
import type {
  ManualPreview,
  ManualStudyBody,
  TypedAnalyte,
  TypedStudy,
} from "../../../dashboard/types/results/manual-study.ts";
import { call } from "../../api.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { timeZone } from "../../text.ts";
import { ApiPreview } from "./api-preview.tsx";
import { ChoosePatient } from "./choose-patient.tsx";
import { Correction } from "./correction.tsx";
import { emptyRows, timeNow } from "./draft.ts";
import { Entry } from "./entry.tsx";
import { useKeptDraft } from "./kept-draft.ts";
import { t } from "./texts.ts";
import "./manual-study.css";

interface Saved {
  readonly fp: string;
  readonly study: ManualPreview["study"];
}

/** Enters a study by hand, or corrects one, with ranges and flags shown during typing. */
export function ManualStudy() {
  const { fp } = useRoute().params;
  return fp === undefined ? <NewStudy /> : <Correction key={fp} fp={fp} />;
}

function NewStudy() {
  const catalogue = useResource<TypedAnalyte[]>("/manual-study/analytes");
  const [saved, setSaved] = useState<Saved | null>(null);
  return (
    <>
      <h1>{t("manualStudy")}</h1>
      <Loaded of={catalogue}>
        {(analytes) =>
          saved === null ? (
            <NewEntry catalogue={analytes} done={setSaved} />
          ) : (
            <SavedStudy saved={saved} next={() => setSaved(null)} />
          )
        }
      </Loaded>
    </>
  );
}

function NewEntry({ catalogue, done }: { catalogue: readonly TypedAnalyte[]; done: (saved: Saved) => void }) {
  const zone = timeZone.value;
  const { draft, entryId, change, forget } = useKeptDraft(() => {
    return { patient: null, modality: "HEMATOLOGY", time: timeNow(zone), device: "", rows: emptyRows(catalogue) };
  });
  const store = async (typed: TypedStudy, shown: ManualPreview["study"]) => {
    const body: ManualStudyBody = { ...typed, entry_id: entryId };
    const { fp } = await call<{ fp: string }>("POST", `${clinicPath()}/manual-study`, body);
    forget();
    done({ fp, study: shown });
  };
  return (
    <Entry {...{ catalogue, draft, change, store }} button={t("save")}>
      <ChoosePatient patient={draft.patient} choose={(patient) => change({ patient })} />
    </Entry>
  );
}

function SavedStudy({ saved: { fp, study }, next }: { saved: Saved; next: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <>
      <section class="card saved">
        <h2 ref={heading} tabIndex={-1}>
          {t("saved")}
        </h2>
        <div class="actions">
          <a href={`/dashboard/results/${fp}`}>{t("openResult")}</a>
          <button type="button" onClick={next}>
            {t("another")}
          </button>
        </div>
      </section>
      <ApiPreview study={study} fp={fp} />
    </>
  );
}
