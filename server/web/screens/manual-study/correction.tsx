import { useLocation } from "preact-iso";
import { useRef, useState } from "preact/hooks";
import type { CorrectionBody, TypedAnalyte, TypedStudy } from "../../../dashboard/types/results/manual-study.ts";
import type { StudyPage } from "../../../dashboard/types/results/results.ts";
import { call } from "../../api.ts";
import { Empty, Loaded, useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { timeZone } from "../../text.ts";
import { studyWord } from "../../ui/words/study-word.ts";
import { type Change, storedDraft } from "./draft.ts";
import { Entry } from "./entry.tsx";
import { t } from "./texts.ts";

/** Corrects the values of a typed study. Its animal stays. */
export function Correction({ fp }: { fp: string }) {
  const catalogue = useResource<TypedAnalyte[]>("/manual-study/analytes");
  const study = useResource<StudyPage>(`/results/${encodeURIComponent(fp)}`);
  return (
    <>
      <h1>{t("correction")}</h1>
      <Loaded of={catalogue}>
        {(analytes) => <Loaded of={study}>{(stored) => <Typed catalogue={analytes} stored={stored} />}</Loaded>}
      </Loaded>
    </>
  );
}

/** The form stays when another user withdraws the study meanwhile: saving then says so, and nothing that was typed is lost. */
function Typed({ catalogue, stored }: { catalogue: readonly TypedAnalyte[]; stored: StudyPage }) {
  const typed = useRef<StudyPage | null>(null);
  if (stored.is_typed && stored.patient !== null) typed.current = stored;
  if (typed.current !== null) return <Values catalogue={catalogue} stored={typed.current} />;
  return (
    <Empty title={t("notTyped")}>
      <a href={`/dashboard/results/${stored.fp}`}>{t("openResult")}</a>
    </Empty>
  );
}

function Values({ catalogue, stored }: { catalogue: readonly TypedAnalyte[]; stored: StudyPage }) {
  // The page keeps the revision that the user saw first: the server refuses a change by another one meanwhile.
  const [revision] = useState(stored.revision);
  const [draft, setDraft] = useState(() => storedDraft(stored, catalogue, timeZone.value));
  const { route } = useLocation();
  const store = async ({ patient_fp: _patient, ...typed }: TypedStudy) => {
    const body: CorrectionBody = { ...typed, revision };
    await call("POST", `${clinicPath()}/results/${stored.fp}/correct`, body);
    route(`/dashboard/results/${stored.fp}`);
  };
  const change: Change = (changed) => setDraft((before) => ({ ...before, ...changed }));
  return (
    <Entry {...{ catalogue, draft, change, store }} button={t("saveCorrection")}>
      <p>
        <strong>{stored.patient?.name}</strong> <span class="quiet">{studyWord(stored.patient?.species ?? "")}</span>
      </p>
      <p class="quiet">{t("correctionHint")}</p>
    </Entry>
  );
}
