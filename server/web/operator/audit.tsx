import { useLocation } from "preact-iso";
import { ALL_CLINICS, type OperatorAudit, type OperatorCommand } from "../../dashboard/types/operator.ts";
import { Empty, Loaded, useResource } from "../resource.tsx";
import { dateTime, translations } from "../text.ts";
import { DataTable } from "../ui/list/data-table.tsx";
import "./operator.css";

const PATH = "/operator/audit";

/** The commands of operators on clinics: looks with their reasons, suspensions, erasures with their counts. */
export function Audit() {
  const before = useLocation().query["before"];
  const page = useResource<OperatorAudit>(
    `/audit${before === undefined ? "" : `?before=${encodeURIComponent(before)}`}`,
    "",
  );
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t("audit")}</h1>
          <p>{t("what")}</p>
        </div>
      </div>
      <Loaded of={page}>
        {({ commands, next }) => (
          <>
            {commands.length === 0 ? <Empty title={t("none")} /> : <Commands of={commands} />}
            <p class="actions">
              {before !== undefined && <a href={PATH}>{t("newest")}</a>}
              {next !== null && <a href={`${PATH}?before=${next}`}>{t("older")}</a>}
            </p>
          </>
        )}
      </Loaded>
    </>
  );
}

function Commands({ of: commands }: { of: readonly OperatorCommand[] }) {
  return (
    <div class="card flush">
      <DataTable
        label={t("audit")}
        class="cards"
        columns={[t("clinic"), t("command"), [t("count"), "number labelled"], [t("by"), "labelled"], t("at")]}
      >
        {commands.map(({ at, by, command, clinic, name, count }, index) => (
          <tr key={index}>
            <th scope="row">
              <Subject clinic={clinic} name={name} />
            </th>
            <td>
              <code>{command}</code>
            </td>
            <td class="number">{count ?? "–"}</td>
            <td>{by}</td>
            <td>{dateTime(at)}</td>
          </tr>
        ))}
      </DataTable>
    </div>
  );
}

/** Names the clinic of a command. One that was erased has its number alone. */
function Subject({ clinic, name }: Pick<OperatorCommand, "clinic" | "name">) {
  if (clinic === ALL_CLINICS) return <>{t("allClinics")}</>;
  return name === null ? <>{clinic}</> : <a href={`/operator/clinics/${clinic}`}>{name}</a>;
}

const t = translations({
  audit: ["Audit", "Denetim kaydı"],
  what: [
    "What operators did to clinics, the newest first. An erased clinic has only its number here.",
    "İşleticilerin kliniklerle ilgili yaptıkları, en yenisi önce. Silinen bir kliniğin burada yalnızca numarası kalır.",
  ],
  none: ["No operator has done anything yet", "Henüz hiçbir işletici bir işlem yapmadı"],
  allClinics: ["All clinics", "Tüm klinikler"],
  clinic: ["Clinic", "Klinik"],
  command: ["Command", "Komut"],
  count: ["Count", "Sayı"],
  by: ["By", "Yapan"],
  at: ["Time", "Zaman"],
  newest: ["Newest entries", "En yeni kayıtlar"],
  older: ["Older entries", "Daha eski kayıtlar"],
});
