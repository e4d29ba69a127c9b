import { useRoute } from "preact-iso";
import { useState } from "preact/hooks";
import type { PatientOverview, PatientResults } from "../../../dashboard/types/patients.ts";
import { Empty, Loaded, useResource } from "../../resource.tsx";
import { LeftOut } from "../../ui/list/left-out.tsx";
import { may } from "../../session.ts";
import { date, translations } from "../../text.ts";
import { Appointments, ConnectionHistory, ImagingStudies, OtherClinics, Records, Used } from "./lists.tsx";
import { Matrix } from "./matrix.tsx";
import { OrderTests } from "../orders/order-form.tsx";
import { OwnerCard } from "./owner-card.tsx";
import { PatientActions } from "./patient-actions.tsx";
import { LIST, NoticeLine, RecentChanges } from "./animal/undo.tsx";
import { TwoDevices } from "./side-by-side.tsx";
import "./patients.css";
import { age, plainDate, speciesOf, word } from "../../ui/words/words.ts";
import { Badge } from "../../ui/status/badge.tsx";
import { Facts } from "../../ui/status/facts.tsx";

/** One patient: who it is, its results by days, records, appointments, and the clinic's connection to it. */
export function PatientPage() {
  const fp = useRoute().params["fp"] ?? "";
  const path = `/patients/${encodeURIComponent(fp)}`;
  const overview = useResource<PatientOverview>(path);
  return (
    <div class="patients-screen">
      <p class="no-print">
        <a href="/dashboard/patients">{t("back")}</a>
      </p>
      {overview.data === undefined && <h1>{t("patient")}</h1>}
      <Loaded of={overview}>
        {(data) => (
          <>
            <NoticeLine at={`${LIST}/${fp}`} reload={overview.reload} />
            <Header overview={data} reload={overview.reload} />
            <OwnerCard overview={data} reload={overview.reload} />
            <Results key={fp} path={path} fp={fp} />
            <Records fp={fp} records={data.records} />
            <Appointments appointments={data.appointments} />
            <Used used={data.used_stock} />
            <RecentChanges at={`${LIST}/${fp}`} changes={data.recent_changes} reload={overview.reload} />
            <ConnectionHistory changes={data.connection_changes} />
            <OtherClinics overview={data} reload={overview.reload} />
            <details class="no-print">
              <summary class="quiet">{t("developers")}</summary>
              <Facts of={[[t("fp"), <code key="fp">{fp}</code>]]} />
            </details>
          </>
        )}
      </Loaded>
    </div>
  );
}

function Header({ overview, reload }: { overview: PatientOverview; reload: () => Promise<void> }) {
  const { patient, precise_species, deceased_at, identifiers } = overview;
  const [isOrdering, setOrdering] = useState(false);
  const { fp, name, species, breed, sex, date_of_birth, weight_kg } = patient;
  const birth = date_of_birth === null ? t("notRecorded") : `${plainDate(date_of_birth)} (${age(date_of_birth)})`;
  const animal = [
    [word(speciesOf({ species, precise_species })), breed].filter((fact) => fact !== null).join(", "),
    sex === null ? null : word(sex),
    date_of_birth === null ? null : age(date_of_birth),
    weight_kg === null ? null : `${weight_kg} kg`,
  ];
  const facts: [string, string][] = [
    [t("born"), birth],
    [t("died"), deceased_at === null ? "" : date(deceased_at)],
    [t("identifiers"), identifiers.length === 0 ? t("notRecorded") : identifiers.join(", ")],
  ];
  return (
    <header>
      <div class="page-head">
        <div>
          <h1>
            {name === "" ? "—" : name} {deceased_at !== null && <Badge tone="done">{t("deceased")}</Badge>}
          </h1>
          <p>{animal.filter((fact) => fact !== null).join(" · ")}</p>
        </div>
        {may("staff") && (
          <span class="actions no-print">
            <button type="button" class="primary" onClick={() => setOrdering(true)}>
              {t("order")}
            </button>
            <PatientActions overview={overview} reload={reload} />
          </span>
        )}
      </div>
      <div class="card">
        <Facts of={facts} />
      </div>
      {isOrdering && <OrderTests patient={{ fp, name, species }} close={() => setOrdering(false)} />}
    </header>
  );
}

function Results({ path, fp }: { path: string; fp: string }) {
  const [isAll, setAll] = useState(false);
  const results = useResource<PatientResults>(`${path}/results${isAll ? "?all=true" : ""}`);
  return (
    <section aria-labelledby="results">
      <h2 id="results">{t("results")}</h2>
      <Loaded of={results}>
        {(data) =>
          data.total === 0 ? (
            <Empty title={t("noResults")}>
              <a href="/dashboard/to-place">{t("noResultsNext")}</a>
            </Empty>
          ) : (
            <>
              <LeftOut count={data.left_out} />
              <Matrix fp={fp} results={data} />
              {data.studies.length < data.total && (
                <p class="actions no-print">
                  <span class="quiet">{t("shown", { count: data.studies.length, total: data.total })}</span>
                  <button type="button" onClick={() => setAll(true)}>
                    {t("showAll")}
                  </button>
                </p>
              )}
              <TwoDevices pairs={data.side_by_side ?? []} />
              <ImagingStudies studies={data.studies} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

const t = translations({
  back: ["All patients", "Tüm hastalar"],
  patient: ["Patient", "Hasta"],
  born: ["Born", "Doğum"],
  identifiers: ["Identifiers", "Kimlikler"],
  developers: ["For developers", "Geliştiriciler için"],
  fp: ["Fingerprint (fp)", "Parmak izi (fp)"],
  notRecorded: ["not recorded", "kayıtlı değil"],
  died: ["Died", "Ölüm"],
  deceased: ["deceased", "öldü"],
  order: ["Order tests", "Test iste"],
  results: ["Results", "Sonuçlar"],
  noResults: ["No results yet", "Henüz sonuç yok"],
  noResultsNext: [
    "Results that wait for a patient stand under To place.",
    "Hasta bekleyen sonuçlar Yerleştirilecek sayfasındadır.",
  ],
  shown: ["The newest {count} of {total} studies.", "{total} tetkikten en yeni {count} tanesi."],
  showAll: ["Show all", "Tümünü göster"],
});
