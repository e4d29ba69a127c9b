import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import { CLINIC_ERASED_KINDS, type ClinicErasure, type HostedClinicPage } from "../../dashboard/types/operator.ts";
import { call } from "../api.ts";
import { dateTime, translations } from "../text.ts";
import { Field } from "../ui/form/field.tsx";
import { Dialog } from "../ui/form-dialog/dialog.tsx";
import { FormDialog } from "../ui/form-dialog/form-dialog.tsx";
import { Facts } from "../ui/status/facts.tsx";

/** Asks for the name of a clinic that leaves, erases it in as many requests as it takes, and shows the report. */
export function EraseDialog({ page, close }: { page: HostedClinicPage; close: () => void }) {
  const { clinic, holdings, pcs } = page;
  const { route } = useLocation();
  const [erasure, setErasure] = useState(page.erasure);
  const act = async ({ name = "" }: Record<string, string>) => {
    for (let erased: ClinicErasure | undefined; erased === undefined || erased.ended_at === null; ) {
      erased = await call<ClinicErasure>("POST", `/clinics/${clinic.fp}/erase`, { name });
      setErasure(erased);
    }
  };
  if (erasure !== null && erasure.ended_at !== null) {
    const leave = () => route("/operator");
    const done = (
      <button type="button" class="primary" onClick={leave}>
        {t("done")}
      </button>
    );
    return (
      <Dialog title={t("erased", { name: clinic.name })} close={leave} foot={done}>
        <p role="status">{t("report")}</p>
        <Counts of={erasure} />
        <p>
          <Backups oldest={page.oldest_backup_at} />
        </p>
      </Dialog>
    );
  }
  const waiting = pcs.reduce((sum, { queue }) => sum + queue, 0);
  return (
    <FormDialog
      title={t("title", { name: clinic.name })}
      close={close}
      act={act}
      button={t("erase")}
      isDangerous
      staysOpen
    >
      <p>{t("what", { animals: holdings.animals, users: holdings.users, keys: holdings.keys })}</p>
      <ul>
        {holdings.shared_animals > 0 && <li>{t("shared", { count: holdings.shared_animals })}</li>}
        <li>{t("pcs", { count: waiting })}</li>
        <li>
          <Backups oldest={page.oldest_backup_at} />
        </li>
      </ul>
      <p>{t("final")}</p>
      <Field label={t("name")}>
        <input name="name" autocomplete="off" required />
      </Field>
      {erasure !== null && (
        <p role="status">{t("progress", { animals: erasure.counts.animals, studies: erasure.counts.studies })}</p>
      )}
    </FormDialog>
  );
}

function Counts({ of: { counts } }: { of: ClinicErasure }) {
  return <Facts of={CLINIC_ERASED_KINDS.filter((kind) => kind !== "others").map((kind) => [t(kind), counts[kind]])} />;
}

function Backups({ oldest }: { oldest: string | null }) {
  return <>{oldest === null ? t("noBackup") : t("backup", { at: dateTime(oldest) })}</>;
}

const t = translations({
  title: ["Erase {name}?", "{name} silinsin mi?"],
  erase: ["Erase the clinic", "Kliniği sil"],
  what: [
    "{animals} {animals|animal|animals} with owners and results, {users} {users|user|users} and {keys} {keys|key|keys} go, and all else that only this clinic has: its records, appointments, stock, controls, settings, audit and name.",
    "{animals} hayvan, sahipleri ve sonuçlarıyla birlikte; {users} kullanıcı, {keys} anahtar ve yalnızca bu kliniğin olan her şey silinir: muayene kayıtları, randevular, stok, kontroller, ayarlar, denetim kaydı ve kliniğin adı.",
  ],
  shared: [
    "{count} {count|animal is|animals are} known to other clinics too, and {count|stays|stay} there with owners, results and records. Users who belong to other clinics stay as well.",
    "{count} hayvan başka kliniklerde de kayıtlı. Sahipleri, sonuçları ve muayene kayıtlarıyla birlikte orada kalır. Başka kliniklere bağlı kullanıcılar da kalır.",
  ],
  pcs: [
    "Results that wait on its PCs: {count}. They stay there. The server refuses the PCs from now on, and they keep what they measure.",
    "Kliniğin bilgisayarlarında bekleyen sonuçlar: {count}. Orada kalırlar. Sunucu bu bilgisayarları artık kabul etmez; ölçtüklerini kendilerinde saklarlar.",
  ],
  backup: [
    "Backups from before still have the clinic, until they are removed. The oldest one is of {at}.",
    "Önceki yedekler, silinene kadar kliniği içerir. En eski yedeğin tarihi: {at}.",
  ],
  noBackup: [
    "The server knows of no backup. Backups that you made have the clinic, until you remove them.",
    "Sunucunun bildiği bir yedek yok. Sizin aldığınız yedekler, siz silene kadar kliniği içerir.",
  ],
  final: [
    "Make the export first, if the clinic wants its data. Nobody can undo this.",
    "Klinik verilerini istiyorsa önce dışa aktarın. Bu işlem geri alınamaz.",
  ],
  name: ["Type the name of the clinic", "Kliniğin adını yazın"],
  progress: [
    "Erased until now: {animals} animals, {studies} results",
    "Şimdiye kadar silinen: {animals} hayvan, {studies} sonuç",
  ],
  erased: ["{name} is erased", "{name} silindi"],
  report: ["The audit of the server keeps these counts.", "Sunucunun denetim kaydı bu sayıları saklar."],
  done: ["Done", "Tamam"],
  animals: ["Animals", "Hayvanlar"],
  owners: ["Owners", "Sahipler"],
  studies: ["Results", "Sonuçlar"],
  records: ["Records", "Muayene kayıtları"],
  events: ["Appointments", "Randevular"],
  orders: ["Orders", "İstemler"],
  items: ["Stock items", "Stok kalemleri"],
  controls: ["Control runs", "Kontrol çalışmaları"],
  users: ["Users", "Kullanıcılar"],
  keys: ["Keys", "Anahtarlar"],
});
