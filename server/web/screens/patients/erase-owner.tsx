import { ERASED_KINDS, type ErasurePlan, type ErasureReport } from "../../../dashboard/types/animals.ts";
import { call } from "../../api.ts";
import { Problem, useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { dateTime, translations } from "../../text.ts";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { Facts } from "../../ui/status/facts.tsx";

/** Asks before the data of an owner are erased: it names the owner and what stays. */
export function EraseOwner({
  fp,
  done,
  close,
}: {
  fp: string;
  done: (report: ErasureReport) => Promise<void>;
  close: () => void;
}) {
  // Read once: the admin erases what was named here, and a change by a colleague meanwhile is refused.
  const plan = useResource<ErasurePlan>(`/owners/${fp}/erasure`, clinicPath(), false);
  const erase = async () => {
    if (plan.data === undefined) return;
    await done(await call<ErasureReport>("POST", `${clinicPath()}/owners/${fp}/erase`, { version: plan.data.version }));
  };
  return (
    <FormDialog
      title={t("title", { name: plan.data?.name ?? t("nameless") })}
      close={close}
      act={erase}
      button={t("button")}
      isDangerous
      isReady={plan.data !== undefined}
    >
      {plan.error !== undefined && <Problem error={plan.error} />}
      <p>{t("what")}</p>
      {plan.data !== undefined && <WhatStays of={plan.data} />}
      <p>{t("outside")}</p>
      <p>{t("final")}</p>
    </FormDialog>
  );
}

/** The report of an erasure, to be printed. It has no data of the owner. */
export function ErasedOwner({ report }: { report: ErasureReport }) {
  return (
    <section class="card" aria-labelledby="erased" role="status">
      <div class="between">
        <h2 id="erased">{t("erased")}</h2>
        <button type="button" class="no-print" onClick={() => print()}>
          {t("print")}
        </button>
      </div>
      <Facts
        of={[
          [t("owner"), report.owner],
          [t("clinic"), report.clinic],
          [t("at"), dateTime(report.at)],
          ...ERASED_KINDS.map((kind) => [t(kind), String(report.erased[kind])] as [string, string]),
        ]}
      />
      <WhatStays of={report} />
      <p>{t("outside")}</p>
    </section>
  );
}

type Staying = Pick<ErasurePlan, "animals" | "studies" | "other_clinics" | "mentions" | "oldest_backup">;

function WhatStays({ of }: { of: Staying }) {
  const { animals, studies, other_clinics: others, mentions, oldest_backup: backup } = of;
  return (
    <ul>
      <li>{t("stays", { animals: String(animals), studies: String(studies) })}</li>
      {others > 0 && <li>{t("others", { count: String(others) })}</li>}
      {mentions > 0 && <li>{t("mentions", { count: String(mentions) })}</li>}
      <li>{backup === null ? t("noBackup") : t("backup", { at: dateTime(backup) })}</li>
    </ul>
  );
}

const t = translations({
  title: ["Erase {name}?", "{name} silinsin mi?"],
  nameless: ["the owner without a name", "Adı bilinmeyen sahip"],
  button: ["Erase the owner's data", "Sahibin verilerini sil"],
  what: [
    "This erases the owner's name, phone, e-mail, language and time zone, the names in practice software, the links to reports, the owner's name that came with results, and what is kept for undo or after an import.",
    "Sahibin adı, telefonu, e-postası, dili ve saat dilimi, klinik yazılımındaki numaraları, rapor bağlantıları, sonuçlarla gelen sahip adı ve geri almak için ya da içe aktarma sonrasında saklananlar silinir.",
  ],
  stays: [
    "{animals} {animals|animal|animals} and {studies} {studies|result|results} stay, under the number of the owner.",
    "{animals} hayvan ve {studies} sonuç, sahibin numarası altında kalır.",
  ],
  others: [
    "{count} other {count|clinic has|clinics have} this owner. It is erased there too, with its links.",
    "Bu sahip {count} klinikte daha kayıtlı. Orada da bağlantılarıyla birlikte silinir.",
  ],
  mentions: [
    "Texts about the animals (records, remarks, appointments) that name the owner: {count}. They stay: look at each.",
    "Hayvanlarla ilgili {count} metinde (muayene kaydı, not, randevu) sahibin bilgileri geçiyor. Bunlar kalır: her birine bakın.",
  ],
  backup: [
    "Backups from before still have the data, until they are removed. The oldest one is of {at}.",
    "Önceki yedekler, silinene kadar bu verileri içerir. En eski yedeğin tarihi: {at}.",
  ],
  noBackup: [
    "The server knows of no backup. Backups that you made have the data, until you remove them.",
    "Sunucunun bildiği bir yedek yok. Sizin aldığınız yedekler, siz silene kadar bu verileri içerir.",
  ],
  outside: [
    "What left the server stays there: sent e-mails, messages to practice software, files on the agents' PCs. If the practice software sends the owner again, it comes back as a new owner.",
    "Sunucudan çıkmış olanlar yerinde kalır: gönderilen e-postalar, klinik yazılımına iletilen mesajlar, ajan bilgisayarlarındaki dosyalar. Klinik yazılımı sahibi yeniden gönderirse yeni bir sahip olarak gelir.",
  ],
  final: ["Nobody can undo this.", "Bu işlem geri alınamaz."],
  erased: ["The owner's data are erased", "Sahibin verileri silindi"],
  print: ["Print", "Yazdır"],
  owner: ["Number of the owner", "Sahibin numarası"],
  clinic: ["Clinic", "Klinik"],
  at: ["Time", "Zaman"],
  facts: ["Name, contacts, language, time zone", "Ad, iletişim bilgileri, dil, saat dilimi"],
  softwareNames: ["Names in practice software", "Klinik yazılımındaki numaralar"],
  reportLinks: ["Links to reports", "Rapor bağlantıları"],
  undo: ["Changes that could be undone", "Geri alınabilir değişiklikler"],
  files: ["Files kept after an import", "İçe aktarma sonrası saklanan dosyalar"],
  answers: ["Kept answers to practice software", "Klinik yazılımına verilen, saklanan yanıtlar"],
  hints: ["Names that came with results", "Sonuçlarla gelen adlar"],
  messages: ["Kept messages to practice software", "Klinik yazılımı için saklanan mesajlar"],
});
