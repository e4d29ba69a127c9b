import type { ComponentChildren } from "preact";
import type { EventStatus, EventType } from "../../../../shared/api/calendar.ts";
import type { SoapStatus } from "../../../../shared/api/soap.ts";
import type { PatientOverview, PatientStudy } from "../../../dashboard/types/patients.ts";
import { isOfImages } from "../../../dashboard/types/results/study-words.ts";
import { may } from "../../session.ts";
import { date, dateTime, translations } from "../../text.ts";
import { ConnectionAnswers } from "../../ui/form-dialog/connection-answer.tsx";
import { studyWord } from "../../ui/words/study-word.ts";
import { Timeline } from "../../ui/status/timeline.tsx";

// The lists below the results of a patient.

/** Studies with images. Their measurements are in the matrix. */
export function ImagingStudies({ studies }: { studies: readonly PatientStudy[] }) {
  const imaging = studies.filter(({ modality }) => isOfImages(modality));
  if (imaging.length === 0) return null;
  return (
    <>
      <h3 class="imaging">{t("imaging")}</h3>
      <ul class="plain-list entries">
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

/** Lists what was used of the stock, if anything was. */
export function Used({ used }: { used: PatientOverview["used_stock"] }) {
  if (used.length === 0) return null;
  return (
    <Section id="used-stock" title={t("usedStock")} empty="" isEmpty={false}>
      {used.map(({ at, item, quantity, lot, by }, index) => (
        <li key={index}>
          {dateTime(at)}, <a href={`/dashboard/stock/${item.fp}`}>{item.name}</a> {quantity} {item.unit}{" "}
          <span class="quiet">
            {[lot === null ? null : t("lot", { lot }), by].filter((word) => word !== null).join(", ")}
          </span>
        </li>
      ))}
    </Section>
  );
}

/** Lists the openings and ends of the clinic's connection. Connections that came with a file have none. */
export function ConnectionHistory({ changes }: { changes: PatientOverview["connection_changes"] }) {
  return (
    <section aria-labelledby="connection">
      <h2 id="connection">{t("connection")}</h2>
      {changes.length === 0 ? (
        <p class="quiet">{t("noChanges")}</p>
      ) : (
        <Timeline
          of={changes.map(({ active, changed_at, by }) => ({
            at: changed_at,
            text: by === null ? t("endedByOther") : t(active ? "opened" : "closedBy", { by }),
          }))}
        />
      )}
    </section>
  );
}

/** Lists the other clinics that asked for the patient, and what this one may do about each. */
export function OtherClinics({ overview, reload }: { overview: PatientOverview; reload: () => Promise<void> }) {
  const { patient, other_clinics } = overview;
  if (other_clinics.length === 0) return null;
  return (
    <Section id="other-clinics" title={t("otherClinics")} empty="" isEmpty={false}>
      {other_clinics.map((other) => {
        const { clinic, state, asked_at, opened_at, ended_at, by } = other;
        const answers = other.may === "answer" ? (["confirm", "refuse"] as const) : (["end"] as const);
        const when = ended_at ?? opened_at ?? asked_at;
        return (
          <li key={`${clinic.fp} ${asked_at}`}>
            {t(state, { clinic: clinic.name })} {by !== null && t("decidedBy", { by })}{" "}
            <span class="quiet">{dateTime(when)}</span>{" "}
            {other.may !== null && may("staff") && (
              <ConnectionAnswers
                fp={patient.fp}
                patient={patient.name}
                clinic={clinic}
                answers={answers}
                reload={reload}
              />
            )}
          </li>
        );
      })}
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
      {isEmpty ? <p class="quiet">{empty}</p> : <ul class="plain-list entries">{children}</ul>}
      {more !== undefined && <p class="no-print">{more}</p>}
    </section>
  );
}

type Words = Record<SoapStatus | EventStatus | EventType | "EXAMINATION", readonly [string, string]>;

const t = translations({
  imaging: ["Imaging", "Görüntüleme"],
  records: ["Records", "Kayıtlar"],
  noRecords: ["No records.", "Kayıt yok."],
  allRecords: ["All records of this patient", "Bu hastanın tüm kayıtları"],
  ofAnother: ["of another clinic", "başka kliniğin"],
  appointments: ["Appointments in this clinic", "Bu klinikteki randevular"],
  noAppointments: ["No appointments.", "Randevu yok."],
  usedStock: ["Used from stock", "Stoktan kullanılanlar"],
  lot: ["lot {lot}", "lot {lot}"],
  connection: ["Connection of this clinic", "Bu kliniğin bağlantısı"],
  noChanges: [
    "The connection came with the patient. No user changed it.",
    "Bağlantı hastayla birlikte geldi. Hiçbir kullanıcı değiştirmedi.",
  ],
  opened: ["{by} opened the connection.", "{by} bağlantıyı açtı."],
  closedBy: ["{by} closed the connection.", "{by} bağlantıyı kapattı."],
  endedByOther: ["Another clinic ended the connection.", "Bağlantıyı başka bir klinik sonlandırdı."],
  otherClinics: ["Other clinics", "Diğer klinikler"],
  decidedBy: ["By {by}.", "Kullanıcı: {by}."],
  waiting: ["{clinic} asks to see this patient.", "{clinic} bu hastayı görmek istiyor."],
  open: ["{clinic} sees this patient.", "{clinic} bu hastayı görüyor."],
  withdrawn: ["{clinic} withdrew its request.", "{clinic} isteğini geri çekti."],
  closed: ["{clinic} closed its connection.", "{clinic} bağlantısını kapattı."],
  refused: ["The connection was refused to {clinic}.", "{clinic} için bağlantı reddedildi."],
  ended: ["The connection of {clinic} was ended.", "{clinic} kliniğinin bağlantısı sonlandırıldı."],
  ...({
    EXAMINATION: ["Examination", "Muayene"],
    DRAFT: ["draft", "taslak"],
    IN_PROGRESS: ["in progress", "sürüyor"],
    SIGNED: ["signed", "imzalı"],
    LOCKED: ["locked", "kilitli"],
    SCHEDULED: ["scheduled", "planlandı"],
    CHECKED_IN: ["checked in", "geldi"],
    PENDING_CHECKOUT: ["waiting for checkout", "çıkış bekliyor"],
    CLOSED: ["closed", "kapandı"],
    CANCELLED: ["cancelled", "iptal edildi"],
    APPOINTMENT: ["appointment", "randevu"],
    SURGERY: ["surgery", "ameliyat"],
    VACCINATION: ["vaccination", "aşı"],
    CHECKUP: ["check-up", "kontrol"],
    EMERGENCY: ["emergency", "acil"],
    SALE: ["sale", "satış"],
  } as const satisfies Words),
});
