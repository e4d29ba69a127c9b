import { useLocation, useRoute } from "preact-iso";
import type { LikelyDoubles } from "../../../../dashboard/types/animals.ts";
import { Loaded, useResource } from "../../../resource.tsx";
import { PatientPicker } from "../../../ui/form/patient-picker.tsx";
import { Double } from "../animal/doubles.tsx";
import { LIST } from "../animal/undo.tsx";
import { Compare } from "./compare.tsx";
import { t } from "./texts.ts";
import "../animal/animal.css";
import "./merge.css";

/** The screen that merges two animals. The address holds both, so that other screens lead to their comparison. */
export function MergeAnimals() {
  const { route } = useLocation();
  const { fp = "", other = "" } = useRoute().params;
  const here = `${LIST}/${fp}/merge`;
  const known = useResource<LikelyDoubles>(`/patients/${encodeURIComponent(fp)}/doubles`);
  const name = known.data?.name ?? "";
  return (
    <>
      <p>
        <a href={`${LIST}/${fp}`}>{t("back", { name })}</a>
      </p>
      <h1>{t("title", { name })}</h1>
      {other === "" ? (
        <>
          <p class="quiet">{t("intro")}</p>
          <Loaded of={known}>
            {({ doubles }) => <Choose fp={fp} doubles={doubles} choose={(chosen) => route(`${here}/${chosen}`)} />}
          </Loaded>
        </>
      ) : (
        <Compare fp={fp} other={other} back={here} />
      )}
    </>
  );
}

/** The animals that are alike, and the search for another one. */
function Choose({
  fp,
  doubles,
  choose,
}: {
  fp: string;
  doubles: LikelyDoubles["doubles"];
  choose: (fp: string) => void;
}) {
  return (
    <>
      {doubles.length > 0 && (
        <section class="card animal-doubles" aria-labelledby="doubles">
          <h2 id="doubles">{t("doubles")}</h2>
          <ul class="plain-list">
            {doubles.map((double) => (
              <li key={double.fp} class="between">
                <div>
                  <Double double={double} />
                </div>
                <button type="button" onClick={() => choose(double.fp)}>
                  {t("compare")}
                  <span class="visually-hidden"> {double.name}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section class="card" aria-labelledby="other">
        <h2 id="other">{t("other")}</h2>
        <PatientPicker chosen={null} choose={(patient) => patient !== null && choose(patient.fp)} without={fp} />
      </section>
    </>
  );
}
