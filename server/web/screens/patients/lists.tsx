import type { ComponentChildren } from "preact";
import type { EventStatus, EventType } from "../../../../shared/api/calendar.ts";
import type { SoapStatus } from "../../../../shared/api/soap.ts";
import type { PatientOverview, PatientStudy } from "../../../../shared/dashboard/patients.ts";
import { date, dateTime, texts } from "../../text.ts";
import { studyWord } from "../../ui/study-word.ts";

// The lists below the results of a patient.

/** Studies with images. Their measurements stand in the matrix. */
export function ImagingStudies({ studies }: { studies: readonly PatientStudy[] }) {
  const imaging = studies.filter(({ modality }) => ["RADIOLOGY", "ULTRASOUND", "ENDOSCOPY"].includes(modality));
  if (imaging.length === 0) return null;
  return (
    <>
      <h3 class="imaging">{t("imaging")}</h3>
      <ul class="entries">
        {imaging.map(({ fp, modality, device_name, acquired_at }) => (
          <li key={fp}>
            <a href={`/dashboard/results/${fp}`}>
              {studyWord(modality)}, {dateTime(acquired_at)}
            </a>{" "}
            <span class="quiet">{device_name}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

export function Records({ fp: patient, records }: { fp: string } & Pick<PatientOverview, "records">) {
  return (
    <Section
      id="records"
      title={t("records")}
      empty={t("noRecords")}
      isEmpty={records.length === 0}
      more={<a href={`/dashboard/records?patient=${patient}`}>{t("allRecords")}</a>}
    >
      {records.map(({ fp, soap_type, status, is_own, created_at, summary }) => (
        <li key={fp}>
          <a href={`/dashboard/records/${fp}`}>
            {soap_type === "EXAMINATION" ? t("EXAMINATION") : soap_type}, {date(created_at)}
          </a>{" "}
          <span class="quiet">
            {t(status)}
            {!is_own && `, ${t("ofAnother")}`}
          </span>
          {summary !== null && <p>{summary}</p>}
        </li>
      ))}
    </Section>
  );
}

export function Appointments({ appointments }: Pick<PatientOverview, "appointments">) {
  return (
    <Section
      id="appointments"
      title={t("appointments")}
      empty={t("noAppointments")}
      isEmpty={appointments.length === 0}
    >
      {appointments.map(({ fp, title, type, status, start_at }) => (
        <li key={fp}>
          {dateTime(start_at)}, {title}{" "}
          <span class="quiet">
            {t(type)}, {t(status)}
          </span>
        </li>
      ))}
    </Section>
  );
}

/** Lists the users who opened and closed the clinic's connection. Connections that came with a file have no user. */
export function ConnectionHistory({ changes }: { changes: PatientOverview["connection_changes"] }) {
  return (
    <Section id="connection" title={t("connection")} empty={t("noChanges")} isEmpty={changes.length === 0}>
      {changes.map(({ active, changed_at, by }) => (
        <li key={changed_at}>
          {t(active ? "opened" : "closed", { by })} <span class="quiet">{dateTime(changed_at)}</span>
        </li>
      ))}
    </Section>
  );
}

function Section({
  id,
  title,
  empty,
  isEmpty,
  more,
  children,
}: {
  id: string;
  title: string;
  empty: string;
  isEmpty: boolean;
  more?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {isEmpty ? <p class="quiet">{empty}</p> : <ul class="entries">{children}</ul>}
      {more !== undefined && <p class="no-print">{more}</p>}
    </section>
  );
}

type Words = Record<SoapStatus | EventStatus | EventType | "EXAMINATION", string>;

const t = texts(
  {
    imaging: "Imaging",
    records: "Records",
    noRecords: "No records.",
    allRecords: "All records of this patient",
    ofAnother: "of another clinic",
    appointments: "Appointments in this clinic",
    noAppointments: "No appointments.",
    connection: "Connection of this clinic",
    noChanges: "The connection came from the practice software. No user changed it.",
    opened: "{by} opened the connection.",
    closed: "{by} closed the connection.",
    ...({
      EXAMINATION: "Examination",
      DRAFT: "draft",
      IN_PROGRESS: "in progress",
      SIGNED: "signed",
      LOCKED: "locked",
      SCHEDULED: "scheduled",
      CHECKED_IN: "checked in",
      PENDING_CHECKOUT: "waiting for checkout",
      CLOSED: "closed",
      CANCELLED: "cancelled",
      APPOINTMENT: "appointment",
      SURGERY: "surgery",
      VACCINATION: "vaccination",
      CHECKUP: "check-up",
      EMERGENCY: "emergency",
      SALE: "sale",
    } satisfies Words),
  },
  {
    imaging: "Görüntüleme",
    records: "Kayıtlar",
    noRecords: "Kayıt yok.",
    allRecords: "Bu hastanın tüm kayıtları",
    ofAnother: "başka kliniğin",
    appointments: "Bu klinikteki randevular",
    noAppointments: "Randevu yok.",
    connection: "Bu kliniğin bağlantısı",
    noChanges: "Bağlantı klinik yazılımından geldi. Hiçbir kullanıcı değiştirmedi.",
    opened: "{by} bağlantıyı açtı.",
    closed: "{by} bağlantıyı kapattı.",
    EXAMINATION: "Muayene",
    DRAFT: "taslak",
    IN_PROGRESS: "sürüyor",
    SIGNED: "imzalı",
    LOCKED: "kilitli",
    SCHEDULED: "planlandı",
    CHECKED_IN: "geldi",
    PENDING_CHECKOUT: "çıkış bekliyor",
    CLOSED: "kapandı",
    CANCELLED: "iptal edildi",
    APPOINTMENT: "randevu",
    SURGERY: "ameliyat",
    VACCINATION: "aşı",
    CHECKUP: "kontrol",
    EMERGENCY: "acil",
    SALE: "satış",
  },
);
