import type { AuditAnswer, AuditEntry } from "../../../../dashboard/types/settings/audit.ts";
import type { KeyList } from "../../../../dashboard/types/settings/keys.ts";
import { auditFilters } from "../../../../dashboard/types/settings/audit.ts";
import { useLocation } from "preact-iso";
import { Empty, Loaded, useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { dateTime } from "../../../text.ts";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { formValues } from "../../../ui/form/form.ts";
import { SettingsFrame } from "../frame.tsx";
import "../../../ui/list/list-bar.css";
import { dayOf, startOfDay } from "./days.ts";
import { t } from "./texts.ts";
import "./audit.css";

const PATH = "/dashboard/settings/audit";

/** Settings, Audit. The filter is in the address, so that other screens can link to it. */
export function Audit() {
  return (
    <SettingsFrame part="audit">
      <AuditOfClinic />
    </SettingsFrame>
  );
}

function AuditOfClinic() {
  const { query, route } = useLocation();
  const filter = new URLSearchParams();
  for (const name of auditFilters) if (query[name]) filter.set(name, query[name]);
  const before = query["before"];
  const page = new URLSearchParams(filter);
  if (before) page.set("before", before);
  const audit = useResource<AuditAnswer>(`/audit?${page.toString()}`);
  const keys = useResource<KeyList>("/keys");
  const nameOfKey = (id: string) => keys.data?.keys.find((key) => key.id === id)?.name ?? id;
  const choose = (chosen: string) => {
    route(`${PATH}?${chosen}`);
    // An unchanged filter also reloads, because each request adds entries to the audit.
    void audit.reload();
  };
  return (
    <>
      <p class="quiet">{t("intro")}</p>
      <Filter key={filter.toString()} query={query} keys={keys.data} choose={choose} />
      <Loaded of={audit}>
        {({ entries, next }) => (
          <>
            {entries.length === 0 ? (
              <Empty title={t(next === null ? "none" : "noneYet")}>{next === null ? t("noneNext") : null}</Empty>
            ) : (
              <Entries entries={entries} nameOfKey={nameOfKey} />
            )}
            <p class="actions">
              {before && <a href={`${PATH}?${filter.toString()}`}>{t("newest")}</a>}
              {next !== null && <a href={`${PATH}?${olderThan(filter, next)}`}>{t("older")}</a>}
              {entries.length > 0 && (
                <a href={`/clinic/v1${clinicPath()}/audit.csv?${filter.toString()}`} download="audit.csv">
                  {t("csv")}
                </a>
              )}
            </p>
          </>
        )}
      </Loaded>
    </>
  );
}

function olderThan(filter: URLSearchParams, before: number): string {
  const older = new URLSearchParams(filter);
  older.set("before", String(before));
  return older.toString();
}

function Filter({
  query,
  keys,
  choose,
}: {
  query: Record<string, string>;
  keys: KeyList | undefined;
  choose: (filter: string) => void;
}) {
  const submit = (event: SubmitEvent) => {
    const { from = "", to = "", ...words } = formValues(event);
    const chosen = new URLSearchParams();
    if (from !== "") chosen.set("since", startOfDay(from));
    if (to !== "") chosen.set("until", startOfDay(to, 1));
    for (const [name, value] of Object.entries(words)) if (value.trim() !== "") chosen.set(name, value.trim());
    choose(chosen.toString());
  };
  const text = (name: string) => query[name] ?? "";
  return (
    <form class="list-bar no-print" role="search" onSubmit={submit}>
      <Field label={t("from")}>
        <input type="date" name="from" defaultValue={dayOf(text("since"))} />
      </Field>
      <Field label={t("to")}>
        <input type="date" name="to" defaultValue={dayOf(text("until"), -1)} />
      </Field>
      <Field label={t("user")}>
        <input name="user" defaultValue={text("user")} autocomplete="off" maxLength={100} />
      </Field>
      <Field label={t("key")}>
        <select name="key">
          <option value="">{t("all")}</option>
          {keys?.keys.map(({ id, name, key }) => (
            <option key={id} value={id} selected={id === text("key")}>
              {name} ({key})
            </option>
          ))}
        </select>
      </Field>
      <Field label={t("text")}>
        <input name="text" defaultValue={text("text")} autocomplete="off" maxLength={200} />
      </Field>
      <Field label={t("fp")}>
        <input name="fp" defaultValue={text("fp")} autocomplete="off" spellcheck={false} maxLength={64} />
      </Field>
      <p class="actions">
        <button type="submit" class="primary">
          {t("search")}
        </button>
        <a href={PATH}>{t("reset")}</a>
      </p>
    </form>
  );
}

function Entries({ entries, nameOfKey }: { entries: readonly AuditEntry[]; nameOfKey: (id: string) => string }) {
  return (
    <DataTable
      label={t("entries")}
      class="dense audit-table cards"
      columns={[t("time"), t("who"), [t("status"), "number labelled"], t("what"), t("record"), t("address")]}
    >
      {entries.map((entry, index) => (
        <tr key={index}>
          <td>
            <time dateTime={entry.at}>{dateTime(entry.at)}</time>
          </td>
          <td>{entry.user ?? (entry.key === null ? "–" : t("byKey", { name: nameOfKey(entry.key) }))}</td>
          <td class="number">{entry.status ?? "–"}</td>
          <td>
            <code>
              {entry.method} {entry.route}
            </code>
            {entry.times > 1 && <span class="quiet"> {t("times", { count: entry.times })}</span>}
          </td>
          <td>
            {entry.fp === null ? (
              entry.count !== null && t("records", { count: entry.count })
            ) : (
              <a href={`${PATH}?fp=${encodeURIComponent(entry.fp)}`}>
                <code>{entry.fp}</code>
              </a>
            )}
          </td>
          <td>{entry.address}</td>
        </tr>
      ))}
    </DataTable>
  );
}
