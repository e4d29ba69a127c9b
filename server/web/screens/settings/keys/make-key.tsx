import type {
  KeyEntry,
  KeyHolder,
  KeyPermission,
  MadeKey,
  NewKeyBody,
  RollBody,
} from "../../../../dashboard/types/settings/keys.ts";
import { agentPermissions, keyPermissions } from "../../../../dashboard/types/settings/keys.ts";
import { useState } from "preact/hooks";
import { call } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";
import { CheckList } from "../../../ui/form/check-list.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { opened } from "./opened.ts";
import { Secret } from "./secret.tsx";
import { t } from "./texts.ts";

// Dialogs that create a key and show it once.

export function NewKeyDialog({ close }: { close: () => void }) {
  const { made, make } = useMadeKey();
  const [type, setType] = useState<KeyHolder>("integration");
  const [chosen, setChosen] = useState<readonly KeyPermission[]>([]);
  const create = ({ name = "", days = "" }: Record<string, string>) =>
    make("/keys", { name, type, permissions: [...chosen], expires_in_days: daysOf(days) } satisfies NewKeyBody);
  const choose = (holder: KeyHolder) => {
    setType(holder);
    setChosen(holder === "device" ? agentPermissions : []);
  };
  if (made !== null) return <MadeKeyDialog of={made} close={close} />;
  return (
    <FormDialog
      title={t("newKey")}
      close={close}
      act={create}
      button={t("create")}
      isReady={chosen.length > 0}
      staysOpen
    >
      <Field label={t("name")} hint={t("nameHint")}>
        <input name="name" maxLength={100} autocomplete="off" required />
      </Field>
      <Field label={t("type")}>
        <select value={type} onChange={({ currentTarget }) => choose(currentTarget.value as KeyHolder)}>
          {(["integration", "device", "partner"] as const).map((holder) => (
            <option key={holder} value={holder}>
              {t(holder)}
            </option>
          ))}
        </select>
      </Field>
      <CheckList
        legend={t("opens")}
        values={keyPermissions.map((permission) => {
          const name = shortName(permission);
          return { value: permission, name: t(name), words: openedText(permission) };
        })}
        chosen={chosen}
        choose={setChosen}
      />
      <EndChoice />
    </FormDialog>
  );
}

function MadeKeyDialog({ of: key, close }: { of: string; close: () => void }) {
  return <Secret title={t("made")} of={key} label={t("theKey")} note={t("copyNow")} close={close} />;
}

function openedText(permission: KeyPermission): string {
  const { sentence, areas } = opened(permission);
  return t(sentence, { what: areas.map((area) => t(area)).join(", ") });
}

type Short<Permission> = Permission extends `clinic.${infer Name}` ? Name : never;

function shortName<Permission extends KeyPermission>(permission: Permission): Short<Permission> {
  return permission.slice("clinic.".length) as Short<Permission>;
}

/** Chooses the expiry of a key. */
function EndChoice() {
  return (
    <Field label={t("end")}>
      <select name="days">
        <option value="30">{t("days30")}</option>
        <option value="90">{t("days90")}</option>
        <option value="365" selected>
          {t("days365")}
        </option>
        <option value="">{t("endlessChoice")}</option>
      </select>
    </Field>
  );
}

function daysOf(text: string): number | null {
  return text === "" ? null : Number(text);
}

export function RollDialog({ of: key, close }: { of: KeyEntry; close: () => void }) {
  const { made, make } = useMadeKey();
  const roll = ({ grace = "", days = "" }: Record<string, string>) =>
    make(`/keys/${key.id}/roll`, { grace_hours: Number(grace), expires_in_days: daysOf(days) } satisfies RollBody);
  if (made !== null) return <MadeKeyDialog of={made} close={close} />;
  return (
    <FormDialog title={t("rollTitle", { name: key.name })} close={close} act={roll} button={t("roll")} staysOpen>
      <p>{t("rollWhy")}</p>
      <Field label={t("grace")} hint={t("graceHint")}>
        <select name="grace">
          <option value="0">{t("grace0")}</option>
          <option value="1">{t("grace1")}</option>
          <option value="24" selected>
            {t("grace24")}
          </option>
          <option value="168">{t("grace168")}</option>
          <option value="720">{t("grace720")}</option>
        </select>
      </Field>
      <EndChoice />
    </FormDialog>
  );
}

/** Creates a key. It is kept only in the state of this component. */
function useMadeKey() {
  const [made, setMade] = useState<string | null>(null);
  const make = async (path: string, body: NewKeyBody | RollBody) => {
    const { key } = await call<MadeKey>("POST", `${clinicPath()}${path}`, body);
    setMade(key);
  };
  return { made, make };
}
