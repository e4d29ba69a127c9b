import { useLocation } from "preact-iso";
import { useEffect, useRef, useState } from "preact/hooks";
import { type ListedPatient, type PatientList, SPECIES } from "../../../dashboard/types/patients.ts";
import { Empty, Loaded, type Resource, useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { date, translations } from "../../text.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Field } from "../../ui/form/field.tsx";
import { OpenConnection } from "./connection.tsx";
import { OwnRequests } from "./own-requests.tsx";
import { LIST, NoticeLine } from "./animal/undo.tsx";
import "./patients.css";
import { age, speciesOf, word } from "../../ui/words/words.ts";
import { Badge } from "../../ui/status/badge.tsx";
import { Pager } from "../../ui/list/pager.tsx";
import "../../ui/list/list-bar.css";

const TYPING_MS = 250;

/** The clinic's patients with search. The address holds the search, so that a reload and a way back show the same list. */
export function Patients() {
  const { query, route } = useLocation();
  const { search = "", species = "", page = "1" } = query;
  const [isConnecting, setConnecting] = useState(false);
  const wanted = parameters({ search, species, page });
  const list = useKept(useResource<PatientList>(`/patients${wanted}`));
  function show(changes: { search?: string; species?: string; page?: string }): void {
    route(`/dashboard/patients${parameters({ search, species, page: "1", ...changes })}`, true);
  }
  return (
    <div class="patients-screen">
      <div class="between">
        <h1>{t("patients")}</h1>
        {may("staff") && (
          <p class="actions">
            <button type="button" onClick={() => setConnecting(true)}>
              {t("connect")}
            </button>
            <a class="button" href="/dashboard/patients/import">
              {t("importList")}
            </a>
            <a class="button" href="/dashboard/patients/new">
              {t("newAnimal")}
            </a>
          </p>
        )}
      </div>
      <NoticeLine at={LIST} reload={list.reload} />
      <OwnRequests />
      <Filters search={search} species={species} show={show} />
      <Loaded of={list}>
        {({ patients, total, page_size }) =>
          total === 0 ? (
            <NoPatients isFiltered={search !== "" || species !== ""} />
          ) : (
            <>
              <p class="quiet" role="status">
                {t("found", { count: total })}
              </p>
              <PatientTable patients={patients} />
              <Pager
                of={{ page: Number(page), page_size, total, has_more: Number(page) * page_size < total }}
                open={(next) => show({ page: String(next) })}
              />
            </>
          )
        }
      </Loaded>
      <p>
        <a href="/dashboard/patients/removed">{t("removed")}</a>
      </p>
      {isConnecting && <OpenConnection close={() => setConnecting(false)} />}
    </div>
  );
}

function parameters({ search, species, page }: { search: string; species: string; page: string }): string {
  const given = Object.entries({ search, species, page: page === "1" ? "" : page }).filter(([, value]) => value !== "");
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
}

/** Keeps the last list on the screen while the next one is loaded. */
function useKept<T>(resource: Resource<T>): Resource<T> {
  const last = useRef<T | undefined>(undefined);
  if (resource.data !== undefined) last.current = resource.data;
  return { ...resource, data: resource.error === undefined ? last.current : resource.data };
}

function Filters({
  search,
  species,
  show,
}: {
  search: string;
  species: string;
  show: (changes: { search?: string; species?: string }) => void;
}) {
  const typing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(typing.current), []);
  return (
    <form class="list-bar" role="search" onSubmit={(event) => event.preventDefault()}>
      <Field label={t("search")}>
        <input
          type="search"
          autocomplete="off"
          defaultValue={search}
          placeholder={t("searchHint")}
          onInput={({ currentTarget: { value } }) => {
            clearTimeout(typing.current);
            typing.current = setTimeout(() => show({ search: value.trim() }), TYPING_MS);
          }}
        />
      </Field>
      <Field label={t("species")}>
        <select value={species} onChange={({ currentTarget }) => show({ species: currentTarget.value })}>
          <option value="">{t("allSpecies")}</option>
          {SPECIES.map((each) => (
            <option key={each} value={each}>
              {word(each)}
            </option>
          ))}
        </select>
      </Field>
    </form>
  );
}

function PatientTable({ patients }: { patients: ListedPatient[] }) {
  return (
    <DataTable
      label={t("patients")}
      class="patients cards"
      columns={[t("name"), t("animal"), t("owner"), t("age"), t("identifiers"), t("lastStudy")]}
    >
      {patients.map((patient) => (
        <tr key={patient.fp}>
          <th scope="row">
            <a href={`/dashboard/patients/${patient.fp}`}>{patient.name === "" ? "—" : patient.name}</a>
            {patient.is_deceased && (
              <>
                {" "}
                <Badge tone="done">{t("deceased")}</Badge>
              </>
            )}
          </th>
          <td>
            {[word(speciesOf(patient)), patient.breed, patient.sex === null ? null : word(patient.sex)]
              .filter((fact) => fact !== null)
              .join(", ")}
          </td>
          <td>{patient.owner_name}</td>
          <td class="age">{patient.date_of_birth === null ? "" : age(patient.date_of_birth)}</td>
          <td>{patient.identifiers.join(", ")}</td>
          <td class="age">{patient.last_study_at === null ? "" : date(patient.last_study_at)}</td>
        </tr>
      ))}
    </DataTable>
  );
}

function NoPatients({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title={t("noneFound")}>{t("noneFoundNext")}</Empty>;
  return <Empty title={t("none")}>{t("noneNext")}</Empty>;
}

const t = translations({
  patients: ["Patients", "Hastalar"],
  connect: ["Connect a patient", "Hasta bağla"],
  importList: ["Import a list", "Liste aktar"],
  search: ["Search", "Ara"],
  searchHint: ["Name, owner, phone or number", "Ad, sahip, telefon veya numara"],
  species: ["Species", "Tür"],
  allSpecies: ["All species", "Tüm türler"],
  found: ["{count} {count|patient|patients}", "{count} hasta"],
  name: ["Name", "Ad"],
  animal: ["Animal", "Hayvan"],
  owner: ["Owner", "Sahibi"],
  deceased: ["deceased", "öldü"],
  newAnimal: ["New animal", "Yeni hasta"],
  removed: ["Removed patients", "Silinen hastalar"],
  age: ["Age", "Yaş"],
  identifiers: ["Identifiers", "Kimlikler"],
  lastStudy: ["Last study", "Son tetkik"],
  noneFound: ["No patient fits", "Uyan hasta yok"],
  noneFoundNext: [
    "Try fewer words, or the whole microchip number.",
    "Daha az sözcük ya da mikroçip numarasının tamamını deneyin.",
  ],
  none: ["This clinic has no patients yet", "Bu kliniğin henüz hastası yok"],
  noneNext: [
    "Import a list, add an animal by hand, let your practice software send them, or connect a patient of another clinic by its fp.",
    "Liste aktarın, elle bir hasta ekleyin, klinik yazılımınız göndersin ya da başka kliniğin bir hastasını fp'siyle bağlayın.",
  ],
});
