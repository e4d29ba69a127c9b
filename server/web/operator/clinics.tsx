import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import {
  CLINIC_STATES,
  type ClinicState,
  type HostedClinic,
  type HostedClinics,
  type HostedSums,
} from "../../dashboard/types/operator.ts";
import { Empty, Loaded, useKept, useResource } from "../resource.tsx";
import { ago, dateTime, translations } from "../text.ts";
import { useInterval } from "../use-interval.ts";
import { SearchField } from "../ui/form/search-field.tsx";
import { DataTable } from "../ui/list/data-table.tsx";
import { Pager } from "../ui/list/pager.tsx";
import { Icon } from "../ui/status/icon.tsx";
import { State } from "../ui/status/status-card.tsx";
import { AnnounceDialog, Announced } from "./announce.tsx";
import { megabytes } from "./megabytes.ts";
import { NewClinicDialog } from "./new-clinic.tsx";
import { needsOperator, StateOf, stateName } from "./state.tsx";
import { Rollout } from "./rollout.tsx";
import { SupportDialog } from "./support.tsx";
import "../ui/list/list-bar.css";
import "./operator.css";

const REFRESH_MS = 30_000;

/** All clinics, those that need the operator first. The address holds the search. */
export function Clinics() {
  const { query, route } = useLocation();
  const { search = "", state = "", page = "1" } = query;
  const [isNew, setNew] = useState(false);
  const [isAnnouncing, setAnnouncing] = useState(false);
  const [supported, setSupported] = useState<HostedClinic | null>(null);
  const asked = new URLSearchParams({ search, page, ...(state !== "" && { state }) });
  const list = useKept(useResource<HostedClinics>(`/clinics?${asked}`, ""));
  useInterval(list.reload, REFRESH_MS, true, `${asked}`);
  const show = (changes: Partial<Record<"search" | "state" | "page", string>>) => {
    const next = { search, state, page: "1", ...changes };
    const kept = Object.entries(next).filter(([key, value]) => value !== "" && !(key === "page" && value === "1"));
    route(`/operator${kept.length === 0 ? "" : `?${new URLSearchParams(kept)}`}`, true);
  };
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{t("clinics")}</h1>
          <p>{t("countsAlone")}</p>
        </div>
        <p class="actions">
          <a class="button" href="/operator/v1/meters.csv" download>
            {t("meters")}
          </a>
          <button type="button" onClick={() => setAnnouncing(true)}>
            {t("announce")}
          </button>
          <button type="button" class="primary" onClick={() => setNew(true)}>
            <Icon of="add" /> {t("newClinic")}
          </button>
        </p>
      </div>
      <Loaded of={list}>
        {({ announcement, clinics, sums, total, page: shown, page_size, has_more }) => (
          <>
            {announcement !== null && <Announced of={announcement} changed={() => void list.reload()} />}
            <Sums of={sums} />
            <Filters search={search} state={state} sums={sums} show={show} />
            {total === 0 ? (
              <Empty title={sums.clinics === 0 ? t("none") : t("noneFound")}>
                {sums.clinics === 0 && t("noneNext")}
              </Empty>
            ) : (
              <div class="card flush">
                <Table clinics={clinics} support={setSupported} />
                <p class="card-foot">{t("foot")}</p>
              </div>
            )}
            <Pager of={{ page: shown, page_size, total, has_more }} open={(next) => show({ page: String(next) })} />
            {sums.newest_version !== null && <Rollout of={sums} version={sums.newest_version} reload={list.reload} />}
          </>
        )}
      </Loaded>
      {isAnnouncing && (
        <AnnounceDialog
          of={list.data?.announcement ?? null}
          close={() => setAnnouncing(false)}
          changed={() => void list.reload()}
        />
      )}
      {isNew && <NewClinicDialog close={() => setNew(false)} made={list.reload} />}
      {supported !== null && <SupportDialog clinic={supported} close={() => setSupported(null)} />}
    </>
  );
}

function Sums({ of: sums }: { of: HostedSums }) {
  const due = needsOperator.reduce((count, state) => count + sums.states[state], 0);
  const current = sums.pcs - sums.behind;
  return (
    <dl class="kpi" aria-label={t("sums")}>
      {[
        [t("needYou"), t("of", { count: due, all: sums.clinics })],
        [t("connected"), t("of", { count: sums.connected, all: sums.pcs })],
        [t("resultsToday"), sums.results_today],
        ...(sums.newest_version === null
          ? []
          : [[t("onVersion", { version: sums.newest_version }), t("of", { count: current, all: sums.pcs })]]),
        [t("backup"), <Backup key="backup" of={sums} />],
      ].map(([name, value]) => (
        <div class="card" key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The time and the size of the last backup, and a later try that failed. */
function Backup({ of: { last_backup: last, backup_failed_at: failedAt } }: { of: HostedSums }) {
  const size = last === null || last.bytes === null ? "" : `, ${megabytes(last.bytes)}`;
  return (
    <>
      {last === null ? t("noBackup") : `${dateTime(last.at)}${size}`}
      {failedAt !== null && (
        <div>
          <State tone="bad">{t("backupFailed", { time: dateTime(failedAt) })}</State>
        </div>
      )}
    </>
  );
}

interface FilterProps {
  readonly search: string;
  readonly state: string;
  readonly sums: HostedSums;
  readonly show: (changes: { search?: string; state?: string }) => void;
}

function Filters({ search, state, sums, show }: FilterProps) {
  const chosen = CLINIC_STATES.filter((each: ClinicState) => sums.states[each] > 0 || each === state);
  return (
    <search aria-label={t("find")}>
      <div class="list-bar">
        <SearchField label={t("find")} maxLength={100} value={search} change={(text) => show({ search: text })} />
      </div>
      <p class="operator-states">
        {chosen.map((each) => (
          <button
            key={each}
            type="button"
            class="chip"
            aria-pressed={each === state}
            onClick={() => show({ state: each === state ? "" : each })}
          >
            {stateName(each)} {sums.states[each]}
          </button>
        ))}
      </p>
    </search>
  );
}

function Table({ clinics, support }: { clinics: readonly HostedClinic[]; support: (clinic: HostedClinic) => void }) {
  return (
    <DataTable
      label={t("clinics")}
      class="cards"
      columns={[
        t("clinic"),
        t("state"),
        [t("pcs"), "number labelled"],
        [t("resultsToday"), "number labelled"],
        [t("waiting"), "labelled"],
        [t("version"), "labelled"],
        t("actions"),
      ]}
    >
      {clinics.map((clinic) => (
        <tr key={clinic.fp}>
          <th scope="row">
            <a href={`/operator/clinics/${clinic.fp}`}>{clinic.name}</a>
          </th>
          <td>
            <StateOf clinic={clinic} />
          </td>
          <td class="number">{t("of", { count: clinic.pcs.connected, all: clinic.pcs.total })}</td>
          <td class="number">{clinic.results_today}</td>
          <td>{clinic.queue_oldest_at === null ? "–" : ago(clinic.queue_oldest_at)}</td>
          <td>{clinic.version ?? "–"}</td>
          <td>
            {clinic.suspended_at === null && (
              <button type="button" aria-label={t("supportOf", { name: clinic.name })} onClick={() => support(clinic)}>
                {t("support")}
              </button>
            )}
          </td>
        </tr>
      ))}
    </DataTable>
  );
}

const t = translations({
  clinics: ["Clinics", "Klinikler"],
  countsAlone: [
    "You see states and counts here, never results.",
    "Burada durumları ve sayıları görürsünüz, sonuçları asla.",
  ],
  meters: ["Usage as CSV", "Kullanım (CSV)"],
  announce: ["Announce…", "Duyur…"],
  newClinic: ["New clinic", "Yeni klinik"],
  sums: ["All clinics", "Tüm klinikler"],
  of: ["{count} of {all}", "{count} / {all}"],
  needYou: ["Need you", "Sizi bekleyen klinik"],
  connected: ["Clinic PCs connected", "Bağlı klinik bilgisayarı"],
  resultsToday: ["Results today", "Bugünkü sonuçlar"],
  onVersion: ["PCs on version {version}", "{version} sürümündeki bilgisayarlar"],
  backup: ["Last backup of the server", "Sunucunun son yedeği"],
  noBackup: ["none", "yok"],
  backupFailed: ["failed at {time}", "{time} denemesi başarısız"],
  find: ["Find a clinic", "Klinik bul"],
  none: ["There is no clinic yet", "Henüz klinik yok"],
  noneNext: ["Make one with New clinic.", "Yeni klinik düğmesiyle bir tane oluşturun."],
  noneFound: ["No clinic fits", "Uyan klinik yok"],
  clinic: ["Clinic", "Klinik"],
  state: ["State", "Durum"],
  pcs: ["PCs", "Bilgisayarlar"],
  waiting: ["Oldest result that waits", "Bekleyen en eski sonuç"],
  version: ["Version", "Sürüm"],
  actions: ["Actions", "İşlemler"],
  support: ["Support…", "Destek…"],
  supportOf: ["Support of {name}…", "{name} için destek…"],
  foot: [
    "Support opens a clinic for an hour, with a reason that the clinic reads in its audit. Suspending keeps its data and its PCs waiting.",
    "Destek, kliniğin denetim kaydında okuduğu bir gerekçeyle kliniği bir saatliğine açar. Askıya alma, verileri korur ve bilgisayarları bekletir.",
  ],
});
