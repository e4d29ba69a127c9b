import type { HostedClinicPage } from "../../dashboard/types/operator.ts";
import { commandFile } from "../api.ts";
import { translations } from "../text.ts";
import { FormDialog } from "../ui/form-dialog/form-dialog.tsx";
import { ReasonField } from "./support.tsx";

/** Asks for the reason of an export, and saves the file once it is complete. */
export function ExportDialog({ clinic, close }: { clinic: HostedClinicPage["clinic"]; close: () => void }) {
  const save = async ({ reason = "" }: Record<string, string>) => {
    const href = URL.createObjectURL(await commandFile(`/clinics/${clinic.fp}/export`, { reason }));
    const link = Object.assign(document.createElement("a"), { href, download: `${clinic.fp}.ndjson` });
    link.click();
    URL.revokeObjectURL(href);
  };
  return (
    <FormDialog title={t("title", { name: clinic.name })} close={close} act={save} button={t("save")}>
      <p>{t("holds")}</p>
      <p>{t("lacks")}</p>
      <p>{t("goes")}</p>
      <ReasonField hint={t("reasonHint")} />
    </FormDialog>
  );
}

const t = translations({
  title: ["Export {name}", "{name} dışa aktarılsın mı?"],
  holds: [
    "The file has this clinic's animals with results and records, its owners with names, phones and e-mails, and its users, appointments and stock.",
    "Dosyada bu kliniğin hayvanları, sonuçları ve muayene kayıtları; adları, telefonları ve e-postalarıyla sahipleri; kullanıcıları, randevuları ve stoğu bulunur.",
  ],
  lacks: [
    "It has no keys, pictures, quality control, and no results that wait to be placed.",
    "Anahtarlar, görüntüler, kalite kontrol ve yerleştirilmeyi bekleyen sonuçlar bulunmaz.",
  ],
  goes: [
    "It goes to the downloads of this computer, and the server keeps no copy. It is not encrypted: pass it to the clinic alone, then delete it.",
    "Bu bilgisayarın indirilenler klasörüne iner; sunucuda kopyası kalmaz. Şifreli değildir: yalnızca kliniğe verin, sonra silin.",
  ],
  reasonHint: [
    "The clinic reads it in its audit with your name: say who asked for the file, and name no patient.",
    "Klinik bunu adınızla birlikte denetim kaydında okur: dosyayı kimin istediğini yazın, hasta adı yazmayın.",
  ],
  save: ["Download the export", "Dışa aktarımı indir"],
});
