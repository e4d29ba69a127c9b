import { useLocation } from "preact-iso";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  type ListedPatient,
  type PatientLetter,
  type PatientList,
  SPECIES,
} from "../../../dashboard/types/patients.ts";
import { Empty, Loaded, useKept, useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { date, translations } from "../../text.ts";
import { DataTable, type SortedColumn } from "../../ui/list/data-table.tsx";
import { Field } from "../../ui/form/field.tsx";
import { SearchField } from "../../ui/form/search-field.tsx";
import { OpenConnection } from "./connection.tsx";
import { OwnRequests } from "./own-requests.tsx";
import { LIST, NoticeLine } from "./animal/undo.tsx";
import "./patients.css";
import { age, speciesOf, word } from "../../ui/words/words.ts";
import { Badge } from "../../ui/status/badge.tsx";
import { Pager } from "../../ui/list/pager.tsx";
import "../../ui/list/list-bar.css";

/** The clinic's patients with search. The address holds the search, so that a reload and a way back show the same list. */
export function Patients() {
  const { query, route } = useLocation();
  const { search = "", species = "", sort = "", page = "1" } = query;
  const [isConnecting, setConnecting] = useState(false);
  const [jumpTo, setJumpTo] = useState<PatientLetter | undefined>(undefined);
  const wanted = parameters({ search, species, sort, page });
  const list = useKept(useResource<PatientList>(`/patients${wanted}`));
  function show(changes: Partial<ListQuery>): void {
    route(`/dashboard/patients${parameters({ search, species, sort, page: "1", ...changes })}`, true);
  }
  const jump = (to: PatientLetter) => {
    setJumpTo({ ...to });
    show({ page: String(to.page) });
  };
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
        {({ patients, total, page_size, letters }) =>
          total === 0 ? (
            <NoPatients isFiltered={search !== "" || species !== ""} />
          ) : (
            <>
              <p class="quiet" role="status">
                {t("found", { count: total })}
              </p>
              <Letters letters={letters} jump={jump} />
              <PatientTable
                patients={patients}
                jumpTo={jumpTo}
                sort={sort || (search === "" ? "name" : "")}
                show={show}
              />
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

interface ListQuery {
  readonly search: string;
  readonly species: string;
  /** A word of PATIENT_SORTS; empty for the order of the list. */
  readonly sort: string;
  readonly page: string;
}

function parameters({ search, species, sort, page }: ListQuery): string {
  const given = Object.entries({ search, species, sort, page: page === "1" ? "" : page }).filter(
    ([, value]) => value !== "",
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
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
  return (
    <form class="list-bar" role="search" onSubmit={(event) => event.preventDefault()}>
      <SearchField
        label={t("search")}
        placeholder={t("searchHint")}
        value={search}
        change={(text) => show({ search: text })}
      />
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

/** Leads to the first patient of a letter, on whichever page it is. */
function Letters({ letters, jump }: { letters: readonly PatientLetter[]; jump: (to: PatientLetter) => void }) {
  if (letters.length < 2) return null;
  return (
    <nav class="letters" aria-label={t("letters")}>
      {letters.map((each) => (
        <button key={each.letter} type="button" onClick={() => jump(each)}>
          {each.letter}
        </button>
      ))}
    </nav>
  );
}

interface TableProps {
  readonly patients: readonly ListedPatient[];
  /** The letter that the user chose last. */
  readonly jumpTo: PatientLetter | undefined;
  readonly sort: string;
  readonly show: (changes: Partial<ListQuery>) => void;
}

function PatientTable({ patients, jumpTo, sort, show }: TableProps) {
  const first = useRef<HTMLAnchorElement>(null);
  const jumped = useRef<PatientLetter | undefined>(undefined);
  useEffect(() => {
    // The focus moves once: a list that is loaded again must not move it.
    if (first.current === null || jumped.current === jumpTo) return;
    first.current.focus();
    jumped.current = jumpTo;
  }, [jumpTo, patients]);
  // The server sorts, since it alone has the patients of all pages.
  const column = (key: "name" | "owner" | "age", heading: string, className?: string): SortedColumn => ({
    heading,
    direction: sort === key ? "ascending" : sort === `-${key}` ? "descending" : undefined,
    sort: () => show({ sort: sort === key ? `-${key}` : key }),
    ...(className !== undefined && { class: className }),
  });
  return (
    <DataTable
      label={t("patients")}
      class="patients cards"
      columns={[
        column("name", t("name")),
        t("animal"),
        column("owner", t("owner")),
        column("age", t("age"), "labelled"),
        t("identifiers"),
        [t("lastStudy"), "labelled"],
      ]}
    >
      {patients.map((patient) => (
        <tr key={patient.fp}>
          <th scope="row">
            <a {...(patient.fp === jumpTo?.fp && { ref: first })} href={`/dashboard/patients/${patient.fp}`}>
              {patient.name === "" ? "—" : patient.name}
            </a>
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
  if (!may("staff")) return <Empty title={t("none")}>{t("noneReader")}</Empty>;
  // An admin makes the key of the practice software; others read who has to do what.
  const system = may("admin") ? "/dashboard/settings/keys" : "/dashboard/help/animals";
  return (
    <section class="no-patients" aria-labelledby="no-patients">
      <strong id="no-patients">{t("none")}</strong>
      <p class="quiet">{t("noneNext")}</p>
      <ul>
        <Door href="/dashboard/patients/new" title={t("byHand")} why={t("byHandWhy")} />
        <Door href="/dashboard/patients/import" title={t("byFile")} why={t("byFileWhy")} />
        <Door href={system} title={t("bySystem")} why={t("bySystemWhy")} />
      </ul>
    </section>
  );
}

function Door({ href, title, why }: { href: string; title: string; why: string }) {
  return (
    <li class="card">
      <a href={href}>{title}</a>
      <p class="quiet">{why}</p>
    </li>
  );
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
  letters: ["Jump to a letter", "Harfe git"],
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
  noneNext: ["Animals come in by three doors:", "Hayvanlar üç yoldan eklenir:"],
  noneReader: [
    "Staff of the clinic add animals by hand, from a file, or from the practice system.",
    "Hayvanları klinik çalışanları elle, dosyadan ya da klinik yazılımından ekler.",
  ],
  byHand: ["Add an animal by hand", "Elle bir hayvan ekle"],
  byHandWhy: [
    "Its name, species and owner are enough for a first result.",
    "İlk sonuç için adı, türü ve sahibi yeterlidir.",
  ],
  byFile: ["Import a file", "Dosya aktar"],
  byFileWhy: [
    "A list of your practice software, or a spreadsheet: you see each line before it is stored.",
    "Klinik yazılımınızın listesi ya da bir tablo: her satırı saklanmadan önce görürsünüz.",
  ],
  bySystem: ["Connect the practice system", "Klinik yazılımını bağla"],
  bySystemWhy: [
    "It then sends animals and their changes by itself, over HL7, a folder or an API key.",
    "Hayvanları ve değişiklikleri HL7, klasör ya da API anahtarıyla kendisi gönderir.",
  ],
});
