import { useState } from "preact/hooks";
import type { NewClinicAnswer, NewClinicBody } from "../../dashboard/types/operator.ts";
import { call } from "../api.ts";
import { Given } from "../screens/settings/users/parts.tsx";
import { translations } from "../text.ts";
import { Field } from "../ui/form/field.tsx";
import { FormDialog } from "../ui/form-dialog/form-dialog.tsx";

/** Makes a clinic with its first admin, and shows the admin's first password once. */
export function NewClinicDialog({ close, made }: { close: () => void; made: () => unknown }) {
  const [given, setGiven] = useState<NewClinicAnswer | null>(null);
  const create = async ({ name = "", admin = "" }: Record<string, string>) => {
    setGiven(await call<NewClinicAnswer>("POST", "/clinics", { name, admin } satisfies NewClinicBody));
    void made();
  };
  if (given !== null) {
    return <Given title={t("newClinic")} of={{ name: given.admin, password: given.password }} close={close} />;
  }
  return (
    <FormDialog title={t("newClinic")} close={close} act={create} button={t("create")} staysOpen>
      <Field label={t("name")}>
        <input name="name" maxLength={100} autocomplete="off" required />
      </Field>
      <Field label={t("admin")} hint={t("adminHint")}>
        <input name="admin" maxLength={100} autocomplete="off" required />
      </Field>
    </FormDialog>
  );
}

const t = translations({
  newClinic: ["New clinic", "Yeni klinik"],
  name: ["Name of the clinic", "Kliniğin adı"],
  admin: ["Name of its first admin", "İlk yöneticisinin adı"],
  adminHint: [
    "The person signs in with this name and a password that you see once.",
    "Kişi bu adla ve bir kez göreceğiniz bir parolayla oturum açar.",
  ],
  create: ["Create clinic", "Klinik oluştur"],
});
