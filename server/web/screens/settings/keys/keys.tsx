import type { KeyEntry, KeyList } from "../../../../dashboard/types/settings/keys.ts";
import { useState } from "preact/hooks";
import { call } from "../../../api.ts";
import { Empty, Loaded, useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { ago, date, dateTime } from "../../../text.ts";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { timeValue } from "../../../ui/list/sort.ts";
import { useSorted } from "../../../ui/list/use-sorted.ts";
import { SettingsFrame } from "../frame.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { NewKeyDialog, RollDialog } from "./make-key.tsx";
import { t } from "./texts.ts";
import "./keys.css";

/** Days before its expiry from which a key is marked as expiring. */
const SOON_DAYS = 30;
const DAY_MS = 86_400_000;

export function Keys() {
  return (
    <SettingsFrame part="keys">
      <KeysOfClinic />
    </SettingsFrame>
  );
}

type Open = { dialog: "new" } | { dialog: "roll" | "revoke"; key: KeyEntry } | null;

function KeysOfClinic() {
  const list = useResource<KeyList>("/keys");
  const [open, setOpen] = useState<Open>(null);
  const close = () => {
    setOpen(null);
    void list.reload();
  };
  return (
    <>
      <p class="quiet">
        {t("intro")} <a href="/dashboard/help/api-keys">{t("help")}</a>
      </p>
      <Loaded of={list}>
        {({ keys, active, active_max }) => (
          <>
            <p class="actions">
              <button type="button" class="primary" onClick={() => setOpen({ dialog: "new" })}>
                {t("newKey")}
              </button>
              <span class="quiet">{t("count", { active, max: active_max })}</span>
            </p>
            {keys.length === 0 ? (
              <Empty title={t("none")}>{t("noneNext")}</Empty>
            ) : (
              <KeyTable keys={keys} open={setOpen} />
            )}
          </>
        )}
      </Loaded>
      {open?.dialog === "new" && <NewKeyDialog close={close} />}
      {open?.dialog === "roll" && <RollDialog of={open.key} close={close} />}
      {open?.dialog === "revoke" && <RevokeDialog of={open.key} close={close} />}
    </>
  );
}

function KeyTable({ keys, open }: { keys: readonly KeyEntry[]; open: (wanted: Open) => void }) {
  const { rows, column } = useSorted(keys, {
    name: ({ name }) => name,
    created: ({ created_at }) => timeValue(created_at),
    lastUsed: ({ last_used_at }) => timeValue(last_used_at),
  });
  return (
    <DataTable
      label={t("keys")}
      class="cards"
      columns={[
        column("name", t("name")),
        t("opens"),
        column("created", t("created"), "labelled"),
        column("lastUsed", t("lastUsed"), "labelled"),
        t("state"),
        t("actions"),
      ]}
    >
      {rows.map((key) => (
        <tr key={key.id} class={key.state === "active" ? undefined : "ended-key"}>
          <th scope="row">
            {key.name}
            <div class="quiet key-type">{t(key.type)}</div>
            <code>{key.key}</code>
          </th>
          <td>
            <Permissions of={key} />
          </td>
          <td>{date(key.created_at)}</td>
          <td>
            {key.last_used_at === null ? t("never") : <time dateTime={key.last_used_at}>{ago(key.last_used_at)}</time>}
          </td>
          <td>
            <State of={key} />
          </td>
          <td>
            {key.state === "active" && (
              <div class="actions key-actions">
                <button type="button" onClick={() => open({ dialog: "roll", key })}>
                  {t("roll")}
                </button>
                <button type="button" class="danger" onClick={() => open({ dialog: "revoke", key })}>
                  {t("revoke")}
                </button>
              </div>
            )}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

function Permissions({ of: { permissions } }: { of: KeyEntry }) {
  return (
    <ul class="plain-list">
      {permissions.map((permission) => (
        <li key={permission}>{permissionName(permission)}</li>
      ))}
    </ul>
  );
}

/** Returns a permission in words; its own name for a permission of a newer server. */
function permissionName(permission: string): string {
  const known = [
    "patient.view",
    "lab.view",
    "soap.view",
    "calendar.view",
    "inventory.view",
    "audit.view",
    "lab.ingest",
    "sync.write",
  ] as const;
  const name = known.find((one) => permission === `clinic.${one}`);
  return name === undefined ? permission : t(name);
}

function State({ of: { state, expires_at, revoked_at } }: { of: KeyEntry }) {
  if (state === "revoked") return <>{t("revokedAt", { time: dateTime(revoked_at ?? "") })}</>;
  if (expires_at === null) return <>{t("endless")}</>;
  if (state === "expired") return <>{t("endedAt", { time: dateTime(expires_at) })}</>;
  return endsSoon(expires_at) ? (
    <strong class="key-soon">{t("endsSoon", { time: dateTime(expires_at) })}</strong>
  ) : (
    <>{t("endsAt", { time: date(expires_at) })}</>
  );
}

function endsSoon(expiresAt: string): boolean {
  return Date.parse(expiresAt) - Date.now() < SOON_DAYS * DAY_MS;
}

function RevokeDialog({ of: key, close }: { of: KeyEntry; close: () => void }) {
  const revoke = async () => {
    await call("POST", `${clinicPath()}/keys/${key.id}/revoke`, {});
  };
  return (
    <FormDialog
      title={t("revokeTitle", { name: key.name })}
      close={close}
      act={revoke}
      button={t("revoke")}
      isDangerous
    >
      <p>{t("revokeWhy")}</p>
      <p>
        <code>{key.key}</code> ·{" "}
        {key.last_used_at === null ? t("never") : t("usedAgo", { time: ago(key.last_used_at) })}
      </p>
    </FormDialog>
  );
}
