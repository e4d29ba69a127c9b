import { useState } from "preact/hooks";
import type { EditOwnerBody, Written } from "../../../dashboard/types/animals.ts";
import type { ErasureReport } from "../../../dashboard/types/animals.ts";
import type { PatientOverview } from "../../../dashboard/types/patients.ts";
import { call } from "../../api.ts";
import { clinicPath, may } from "../../session.ts";
import { translations } from "../../text.ts";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { Facts } from "../../ui/status/facts.tsx";
import { word } from "../../ui/words/words.ts";
import { ownerDraft, ownerFacts } from "./animal/draft.ts";
import { OwnerFacts } from "./animal/owner-fields.tsx";
import { EraseOwner, ErasedOwner } from "./erase-owner.tsx";
import { LIST, notice } from "./animal/undo.tsx";
import "./animal/animal.css";

/** The owner of a patient, whom the read API does not name, and the other animals of the owner. */
export function OwnerCard({ overview: { patient, owner, siblings }, reload }: OwnerProps) {
  // The owner for whom a dialog was opened: a colleague may meanwhile change it, or give the animal another one.
  const [asked, ask] = useState<{ what: "edit" | "erase"; owner: PatientOverview["owner"] } | null>(null);
  const [report, setReport] = useState<ErasureReport | null>(null);
  const { name, phone, email, language, time_zone } = owner;
  const isUnknown = name === null && phone === null && email === null;
  if (report !== null && report.owner === owner.fp) return <ErasedOwner report={report} />;
  const end = () => ask(null);
  const noteErased = async (made: ErasureReport) => {
    await reload();
    setReport(made);
  };
  return (
    <section class="card" aria-labelledby="owner">
      <div class="between">
        <h2 id="owner">{t("owner")}</h2>
        {may("staff") && (
          <span class="actions no-print">
            <button type="button" onClick={() => ask({ what: "edit", owner })}>
              {isUnknown ? t("add") : t("edit")}
            </button>
            {may("admin") && (
              <button type="button" onClick={() => ask({ what: "erase", owner })}>
                {t("erase")}
              </button>
            )}
          </span>
        )}
      </div>
      {isUnknown && <p class="quiet">{t("unknown")}</p>}
      <Facts
        of={[
          [t("name"), name],
          [
            t("phone"),
            phone === null ? null : (
              <a key="phone" href={`tel:${phone.replaceAll(/[^+\d]/g, "")}`}>
                {phone}
              </a>
            ),
          ],
          [
            t("email"),
            email === null ? null : (
              <a key="email" href={`mailto:${encodeURIComponent(email)}`}>
                {email}
              </a>
            ),
          ],
          [t("language"), language === null ? null : { en: "English", tr: "Türkçe" }[language]],
          [t("timeZone"), time_zone],
          [t("siblings"), siblings.length === 0 ? null : <Siblings key="siblings" of={siblings} />],
        ]}
      />
      {asked?.what === "edit" && (
        <EditOwner owner={asked.owner} page={`${LIST}/${patient.fp}`} reload={reload} close={end} />
      )}
      {asked?.what === "erase" && <EraseOwner fp={asked.owner.fp} done={noteErased} close={end} />}
    </section>
  );
}

interface OwnerProps {
  readonly overview: PatientOverview;
  readonly reload: () => Promise<void>;
}

function Siblings({ of }: { of: PatientOverview["siblings"] }) {
  return (
    <>
      {of.map(({ fp, name, species }, index) => (
        <span key={fp}>
          {index > 0 && ", "}
          <a href={`/dashboard/patients/${fp}`}>{name}</a> <span class="quiet">{word(species)}</span>
        </span>
      ))}
    </>
  );
}

function EditOwner({
  owner: { fp, version, ...facts },
  page,
  reload,
  close,
}: {
  owner: PatientOverview["owner"];
  /** The address of the page with the card. */
  page: string;
  reload: () => Promise<void>;
  close: () => void;
}) {
  const [draft, setDraft] = useState(ownerDraft(facts));
  const save = async () => {
    const body: EditOwnerBody = { ...ownerFacts(draft), version };
    const { batch } = await call<Written>("PUT", `${clinicPath()}/owners/${fp}`, body);
    if (batch !== null) notice.value = { at: page, text: t("saved"), batch };
    await reload();
  };
  return (
    <FormDialog
      title={t("editTitle")}
      close={close}
      act={save}
      button={t("save")}
      sentences={{ "REQUEST.INVALID_BODY": t("invalid") }}
    >
      <p class="quiet">{t("forAll")}</p>
      <OwnerFacts
        draft={draft}
        change={(changed) => setDraft((before) => ({ ...before, ...changed }))}
        faultOf={() => null}
        leave={() => undefined}
      />
    </FormDialog>
  );
}

const t = translations({
  owner: ["Owner", "Sahibi"],
  add: ["Add the owner", "Sahibini ekle"],
  edit: ["Change the owner's data", "Sahibin bilgilerini değiştir"],
  erase: ["Erase the owner's data…", "Sahibin verilerini sil…"],
  unknown: ["Nobody wrote down whose animal this is.", "Bu hayvanın kimin olduğu yazılmamış."],
  name: ["Name", "Ad"],
  phone: ["Phone", "Telefon"],
  email: ["E-mail", "E-posta"],
  language: ["Language of reports", "Rapor dili"],
  timeZone: ["Time zone", "Saat dilimi"],
  siblings: ["Other animals", "Diğer hayvanları"],
  editTitle: ["The owner's data", "Sahibin bilgileri"],
  forAll: [
    "They are the same for all animals of the owner. If the animal has another owner, change the animal.",
    "Sahibin bütün hayvanları için aynıdır. Hayvanın sahibi başkaysa hayvanın kaydını değiştirin.",
  ],
  save: ["Save", "Kaydet"],
  saved: ["The owner's data are saved.", "Sahibin bilgileri kaydedildi."],
  invalid: [
    "A name is expected, a phone number with digits and an e-mail address with @.",
    "Bir ad, rakamlı bir telefon numarası ve @ içeren bir e-posta adresi beklenir.",
  ],
});
