import { useState } from "preact/hooks";
import type { DestinationList, DestinationRow } from "../../../../dashboard/types/settings/destinations.ts";
import { call } from "../../../api.ts";
import { Empty, Loaded, useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { ago } from "../../../text.ts";
import { Field } from "../../../ui/form/field.tsx";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { Badge } from "../../../ui/status/badge.tsx";
import { SettingsFrame } from "../frame.tsx";
import { OptionFields, optionsIn } from "./options.tsx";
import { t } from "./texts.ts";

export function Destinations() {
  return (
    <SettingsFrame part="destinations">
      <DestinationsOfClinic />
    </SettingsFrame>
  );
}

function DestinationsOfClinic() {
  const list = useResource<DestinationList>("/destinations");
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    void list.reload();
  };
  return (
    <>
      <p class="quiet">
        {t("intro")} <a href="/dashboard/help/practice-software">{t("help")}</a>
      </p>
      <Loaded of={list}>
        {({ destinations, private_allowed }) => (
          <>
            <p class="actions">
              <button type="button" class="primary" onClick={() => setOpen(true)}>
                {t("add")}
              </button>
            </p>
            {destinations.length === 0 ? (
              <Empty title={t("none")}>{t("noneNext")}</Empty>
            ) : (
              <DestinationTable destinations={destinations} />
            )}
            {isOpen && <NewDestination isPrivateAllowed={private_allowed} close={close} />}
          </>
        )}
      </Loaded>
    </>
  );
}

function DestinationTable({ destinations }: { destinations: readonly DestinationRow[] }) {
  return (
    <DataTable
      label={t("destinations")}
      class="cards"
      columns={[t("name"), [t("by"), "labelled"], t("state"), [t("lastTaken"), "labelled"]]}
    >
      {destinations.map((destination) => (
        <tr key={destination.id}>
          <th scope="row">
            <a href={`/dashboard/settings/destinations/${destination.id}`}>{destination.name}</a>
            <div class="quiet">{destination.address ?? t(destination.kind)}</div>
          </th>
          <td>{senderOf(destination)}</td>
          <td>
            <DestinationState of={destination} />
          </td>
          <td>{destination.acknowledged_at === null ? t("never") : ago(destination.acknowledged_at)}</td>
        </tr>
      ))}
    </DataTable>
  );
}

export function senderOf({ agent }: DestinationRow): string {
  return agent === null ? t("server") : t("pc", { name: agent });
}

export function DestinationState({ of: { paused, waiting, parked } }: { of: DestinationRow }) {
  return (
    <>
      <Badge tone={paused || parked > 0 ? "warning" : "active"}>{t(paused ? "paused" : "active")}</Badge>
      {waiting > 0 && <div class="quiet">{t("waiting", { count: waiting })}</div>}
      {parked > 0 && <div>{t("parked", { count: parked })}</div>}
    </>
  );
}

function NewDestination({ isPrivateAllowed, close }: { isPrivateAllowed: boolean; close: () => void }) {
  return (
    <FormDialog title={t("add")} close={close} act={create} button={t("add")}>
      <Field label={t("name")} hint={t("nameHint")}>
        <input name="name" maxLength={64} autocomplete="off" required />
      </Field>
      <Field label={t("address")} hint={t(isPrivateAllowed ? "addressHint" : "publicHint")}>
        <input name="address" maxLength={280} autocomplete="off" required />
      </Field>
      <Field label={t("encryption")}>
        <select name="encryption">
          {isPrivateAllowed && <option value="plain">{t("plain")}</option>}
          <option value="tls">{t("tls")}</option>
        </select>
      </Field>
      <OptionFields />
    </FormDialog>
  );
}

async function create({
  name = "",
  address = "",
  encryption = "",
  ...fields
}: Record<string, string>): Promise<unknown> {
  const text = `${encryption === "tls" ? "tls://" : ""}${address.trim()}`;
  return call("POST", `${clinicPath()}/destinations`, { name, address: text, options: optionsIn(fields) });
}
