import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import type { SoapStatus } from "../../../../shared/api/soap.ts";
import { isOpen, type RecordList, type RecordSummary } from "../../../dashboard/types/records.ts";
import { Empty, Loaded, useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { date } from "../../text.ts";
import { Badge } from "../../ui/status/badge.tsx";
import { DataTable } from "../../ui/list/data-table.tsx";
import { Dialog } from "../../ui/form-dialog/dialog.tsx";
import { Field } from "../../ui/form/field.tsx";
import { Pager } from "../../ui/list/pager.tsx";
import { PatientPicker } from "../../ui/form/patient-picker.tsx";
import { studyWord } from "../../ui/words/study-word.ts";
import { NewRecord } from "./new-record.tsx";
import { statusName, t, typeName } from "./texts.ts";
import "../../ui/list/list-bar.css";
import "./records.css";

const PAGE_SIZE = 50;
const statuses: readonly SoapStatus[] = ["DRAFT", "IN_PROGRESS", "SIGNED", "LOCKED"];

/** The SOAP records that the clinic may see. The filters are in the address. */
export function Records() {
  const { query, route } = useLocation();
  const { status = "", patient = "", page = "1" } = query;
  const [isNew, setNew] = useState(false);
  const [isFiltering, setFiltering] = useState(false);
  const search = (changes: Record<string, string>) => {
    const set = Object.entries({ status, patient, ...changes }).filter(([, value]) => value !== "");
    return set.length === 0 ? "" : `?${new URLSearchParams(set)}`;
  };
  const list = useResource<RecordList>(`/records${search({ page, page_size: String(PAGE_SIZE) })}`);
  const show = (changes: Record<string, string>) => route(`/dashboard/records${search(changes)}`);
  const named = list.data?.items[0]?.patient ?? null;
  return (
    <>
      <h1>{t("records")}</h1>
      <div class="list-bar">
        <Field label={t("status")}>
          <select value={status} onChange={({ currentTarget }) => show({ status: currentTarget.value })}>
            <option value="">{t("everyStatus")}</option>
            {statuses.map((each) => (
              <option key={each} value={each}>
                {statusName(each)}
              </option>
            ))}
          </select>
        </Field>
        <PatientFilter
          name={patient === "" ? null : (named?.name ?? t("thisPatient"))}
          choose={() => setFiltering(true)}
          end={() => show({ patient: "" })}
        />
        {may("staff") && (
          <button type="button" class="primary" onClick={() => setNew(true)}>
            {t("newRecord")}
          </button>
        )}
      </div>
      <Loaded of={list}>
        {(data) =>
          data.items.length === 0 ? (
            <Empty title={t("none")}>{may("staff") ? t("noneStaff") : t("noneReader")}</Empty>
          ) : (
            <>
              <RecordTable records={data.items} />
              <Pager of={data} open={(next) => show({ page: String(next) })} />
            </>
          )
        }
      </Loaded>
      {isNew && <NewRecord patient={patient === "" ? null : named} close={() => setNew(false)} />}
      {isFiltering && (
        <Dialog title={t("onePatient")} close={() => setFiltering(false)}>
          <PatientPicker
            chosen={null}
            choose={(chosen) => {
              setFiltering(false);
              show({ patient: chosen?.fp ?? "" });
            }}
          />
        </Dialog>
      )}
    </>
  );
}

/** Shows the patient of the filter, or a button to choose one. */
function PatientFilter({ name, choose, end }: { name: string | null; choose: () => void; end: () => void }) {
  if (name === null) {
    return (
      <p class="actions">
        <button type="button" onClick={choose}>
          {t("onePatient")}
        </button>
      </p>
    );
  }
  return (
    <p class="actions">
      {t("patientFilter", { name })}
      <button type="button" onClick={end}>
        {t("everyPatient")}
      </button>
    </p>
  );
}

function RecordTable({ records }: { records: readonly RecordSummary[] }) {
  return (
    <DataTable
      label={t("list")}
      class="cards"
      columns={[
        t("patient"),
        t("type"),
        t("status"),
        t("clinic"),
        [t("written"), "labelled"],
        [t("signed"), "labelled"],
      ]}
    >
      {records.map((record) => (
        <tr key={record.fp}>
          <th scope="row">
            <a href={`/dashboard/records/${record.fp}`}>{record.patient.name}</a>{" "}
            <span class="quiet">{studyWord(record.patient.species)}</span>
          </th>
          <td>{typeName(record.soap_type)}</td>
          <td>
            <Badge tone={isOpen(record.status) ? "active" : "done"}>{statusName(record.status)}</Badge>
          </td>
          <td>{record.is_own ? t("ownClinic") : record.clinic.name}</td>
          <td class="record-date">{date(record.created_at)}</td>
          <td class="record-date">{record.signed_at === null ? "" : date(record.signed_at)}</td>
        </tr>
      ))}
    </DataTable>
  );
}
