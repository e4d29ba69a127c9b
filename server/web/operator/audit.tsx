import { useState } from "preact/hooks";
import type { OperatorAudit, OperatorCommand } from "../../dashboard/types/operator.ts";
import { call } from "../api.ts";
import { Loaded, Problem, useResource } from "../resource.tsx";
import { dateTime, translations } from "../text.ts";
import { useAction } from "../ui/form/use-action.ts";
import { DataTable } from "../ui/list/data-table.tsx";
import "./operator.css";

/** The commands of operators on clinics: looks with their reasons, suspensions, erasures with their counts. */
export function Audit() {
  const page = useResource<OperatorAudit>("/audit", "");
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t("audit")}</h1>
          <p>{t("what")}</p>
        </div>
      </div>
      <Loaded of={page}>{(first) => <Commands first={first} />}</Loaded>
    </>
  );
}

function Commands({ first }: { first: OperatorAudit }) {
  const [older, setOlder] = useState<OperatorAudit | null>(null);
  const { run, error, isRunning } = useAction();
  const { commands, next } = older === null ? first : { ...older, commands: [...first.commands, ...older.commands] };
  const more = async () => {
    const page = await call<OperatorAudit>("GET", `/audit?before=${next}`);
    setOlder({ ...page, commands: [...(older?.commands ?? []), ...page.commands] });
  };
  if (commands.length === 0) return <p class="quiet">{t("none")}</p>;
  return (
    <>
      <div class="card flush">
        <DataTable
          label={t("audit")}
          class="cards"
          columns={[t("clinic"), t("command"), [t("count"), "number labelled"], [t("by"), "labelled"], t("at")]}
        >
          {commands.map((command, index) => (
            <tr key={index}>
              <th scope="row">
                <ClinicOf command={command} />
              </th>
              <td>{command.command}</td>
              <td class="number">{command.count ?? "–"}</td>
              <td>{command.by}</td>
              <td>{dateTime(command.at)}</td>
            </tr>
          ))}
        </DataTable>
      </div>
      {error !== undefined && <Problem error={error} />}
      {next !== null && (
        <p class="actions">
          <button type="button" disabled={isRunning} onClick={() => void run(more)}>
            {t("older")}
          </button>
        </p>
      )}
    </>
  );
}

function ClinicOf({ command: { clinic, name } }: { command: OperatorCommand }) {
  return name === null ? <>{clinic}</> : <a href={`/operator/clinics/${clinic}`}>{name}</a>;
}

const t = translations({
  audit: ["Audit", "Denetim kaydı"],
  what: [
    "What operators did to clinics, the newest first. An erased clinic has its number alone.",
    "İşleticilerin kliniklerde yaptıkları; en yenisi önce. Silinen kliniğin yalnızca numarası kalır.",
  ],
  none: ["No operator did anything yet.", "Henüz hiçbir işletici bir işlem yapmadı."],
  clinic: ["Clinic", "Klinik"],
  command: ["Command", "Komut"],
  count: ["Count", "Sayı"],
  by: ["By", "Yapan"],
  at: ["Time", "Zaman"],
  older: ["Show older ones", "Daha eskilerini göster"],
});
