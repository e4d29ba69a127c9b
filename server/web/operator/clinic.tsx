import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import {
  type HostedClinicPage,
  type HostedPc,
  type Meters,
  overQuota,
  QUOTA_METERS,
  type QuotaMeter,
  type Quotas,
} from "../../dashboard/types/operator.ts";
import { Loaded, useResource } from "../resource.tsx";
import { ago, dateTime, locale, translations } from "../text.ts";
import { DataTable } from "../ui/list/data-table.tsx";
import { Facts } from "../ui/status/facts.tsx";
import { State } from "../ui/status/status-card.tsx";
import { ClinicCommand, type Command } from "./commands.tsx";
import { EraseDialog } from "./erase.tsx";
import { ExportDialog } from "./export.tsx";
import { megabytes } from "./megabytes.ts";
import { overWords } from "./state.tsx";
import { SupportDialog } from "./support.tsx";
import "./operator.css";

type Dialog = "support" | "export" | "erase";

/** One clinic: its PCs, what it uses, who looked into it, and what the operator can do. */
export function Clinic({ fp }: { fp: string }) {
  const page = useResource<HostedClinicPage>(`/clinics/${fp}`, "");
  const [command, setCommand] = useState<Command | Dialog | null>(null);
  const close = () => {
    setCommand(null);
    void page.reload();
  };
  return (
    <Loaded of={page}>
      {({ clinic, pcs, meters, looks, ...rest }) => (
        <>
          <div class="page-head">
            <div>
              <h1>{clinic.name}</h1>
              <p>
                {clinic.suspended_at === null ? t("served") : t("suspended", { time: dateTime(clinic.suspended_at) })}
              </p>
            </div>
            <p class="actions">
              {clinic.suspended_at === null ? (
                <>
                  <Act of="suspend" choose={setCommand} />
                  <button type="button" class="primary" onClick={() => setCommand("support")}>
                    {t("support")}
                  </button>
                </>
              ) : (
                rest.erasure === null && (
                  <button type="button" class="primary" onClick={() => setCommand("resume")}>
                    {t("resume")}
                  </button>
                )
              )}
            </p>
          </div>
          <Pcs of={pcs} />
          <h2>{t("usage")}</h2>
          <div class="card">
            <Facts
              of={[
                [t("studies"), t("studiesOf", { all: meters.studies, month: meters.studies_this_month })],
                [t("studiesMax"), clinic.studies_max ?? t("noQuota")],
                ...QUOTA_METERS.map((meter): [string, ComponentChildren] => [
                  t(meter),
                  <Meter key={meter} of={meter} meters={meters} quotas={clinic.quotas} />,
                ]),
              ]}
            />
            <p class="actions">
              <Act of="quota" choose={setCommand} />
            </p>
          </div>
          <Looks of={looks} />
          <Leaving clinic={clinic} isErasing={rest.erasure !== null} choose={setCommand} />
          {command === "support" && <SupportDialog clinic={clinic} close={close} />}
          {command === "erase" && <EraseDialog page={{ clinic, pcs, meters, looks, ...rest }} close={close} />}
          {command === "export" && <ExportDialog clinic={clinic} close={close} />}
          {command !== null && command !== "support" && command !== "erase" && command !== "export" && (
            <ClinicCommand of={command} clinic={clinic} close={close} />
          )}
        </>
      )}
    </Loaded>
  );
}

/** A meter with its limit, and a mark where it is over it. */
function Meter({ of: meter, meters, quotas }: { of: QuotaMeter; meters: Meters; quotas: Quotas }) {
  const [used, max] = [meters[meter], quotas[meter]];
  const shown = (count: number) =>
    meter === "storage_bytes" ? megabytes(count) : new Intl.NumberFormat(locale()).format(count);
  const count = used === null ? t("notMeasured") : shown(used);
  const words = max === null ? count : t("limited", { count, max: shown(max) });
  return (
    <>
      {words} {overQuota(meters, quotas).includes(meter) && <State tone="warn">{overWords(meter)}</State>}
    </>
  );
}

function Leaving({
  clinic,
  isErasing,
  choose,
}: {
  clinic: HostedClinicPage["clinic"];
  isErasing: boolean;
  choose: (dialog: Dialog) => void;
}) {
  return (
    <>
      <h2>{t("leaving")}</h2>
      <div class="card">
        <p>{t("exporting")}</p>
        <p>{t(isErasing ? "unfinished" : "erasing")}</p>
        <p class="actions">
          <button type="button" onClick={() => choose("export")}>
            {t("export")}
          </button>
          {clinic.suspended_at !== null && (
            <button type="button" class="danger" onClick={() => choose("erase")}>
              {t("erase")}
            </button>
          )}
        </p>
      </div>
    </>
  );
}

function Act({ of: command, choose }: { of: Command; choose: (command: Command) => void }) {
  return (
    <button type="button" onClick={() => choose(command)}>
      {t(command)}
    </button>
  );
}

function Pcs({ of: pcs }: { of: readonly HostedPc[] }) {
  const columns = [
    t("pc"),
    t("state"),
    [t("version"), "labelled"],
    [t("devices"), "labelled"],
    [t("queue"), "labelled"],
  ] as const;
  return (
    <>
      <h2>{t("pcs")}</h2>
      {pcs.length === 0 ? (
        <p class="quiet">{t("noPc")}</p>
      ) : (
        <div class="card flush">
          <DataTable label={t("pcs")} class="cards" columns={columns}>
            {pcs.map((pc, index) => (
              <tr key={index}>
                <th scope="row">{t("pcNumber", { number: index + 1 })}</th>
                <td>
                  <State tone={pc.is === "running" ? "good" : "bad"}>
                    {pc.last_seen_at === null
                      ? t("neverHeard")
                      : t(pc.is === "running" ? "running" : "silent", { time: ago(pc.last_seen_at) })}
                  </State>
                </td>
                <td>{pc.version ?? "–"}</td>
                <td>
                  {pc.devices_with_faults === 0
                    ? pc.devices
                    : t("faults", { all: pc.devices, count: pc.devices_with_faults })}
                </td>
                <td>
                  {pc.queue_oldest_at === null
                    ? pc.queue
                    : t("waiting", { count: pc.queue, time: ago(pc.queue_oldest_at) })}
                </td>
              </tr>
            ))}
          </DataTable>
        </div>
      )}
    </>
  );
}

function Looks({ of: looks }: { of: HostedClinicPage["looks"] }) {
  return (
    <>
      <h2>{t("looks")}</h2>
      {looks.length === 0 ? (
        <p class="quiet">{t("noLook")}</p>
      ) : (
        <ul>
          {looks.map(({ by, reason, begins_at }) => (
            <li key={begins_at}>
              {dateTime(begins_at)} · {by}: {reason}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const t = translations({
  served: ["This clinic is served.", "Bu kliniğe hizmet veriliyor."],
  suspended: [
    "Suspended since {time}. Its data stays, and its PCs wait.",
    "{time} tarihinden beri askıda. Verileri duruyor, bilgisayarları bekliyor.",
  ],
  suspend: ["Suspend…", "Askıya al…"],
  resume: ["Serve again…", "Yeniden aç…"],
  support: ["Support…", "Destek…"],
  quota: ["Limits…", "Sınırlar…"],
  studiesMax: ["Limit of studies", "Çalışma sınırı"],
  erase: ["Erase the clinic…", "Kliniği sil…"],
  usage: ["Usage", "Kullanım"],
  studies: ["Studies", "Çalışmalar"],
  studiesOf: ["{all}, {month} this month", "{all}, bu ay {month}"],
  noQuota: ["that of the server", "sunucunun sınırı"],
  devices: ["Devices", "Cihazlar"],
  api_calls_this_month: ["API calls this month", "Bu ayki API çağrıları"],
  storage_bytes: ["Results and pictures", "Sonuçlar ve görüntüler"],
  limited: ["{count}, limit {max}", "{count}, sınır {max}"],
  notMeasured: ["not measured yet", "henüz ölçülmedi"],
  leaving: ["When the clinic leaves", "Klinik ayrıldığında"],
  export: ["Export…", "Dışa aktar…"],
  exporting: [
    "The export has the clinic's animals, owners, results and records, in a file that another server imports.",
    "Dışa aktarım, kliniğin hayvanlarını, sahiplerini, sonuçlarını ve muayene kayıtlarını başka bir sunucunun içe aktarabileceği bir dosyada verir.",
  ],
  erasing: [
    "Once the clinic is suspended you can erase it: all that only this clinic has, with its users, keys and name.",
    "Klinik askıya alındıktan sonra silebilirsiniz: kullanıcıları, anahtarları ve adıyla birlikte yalnızca bu kliniğin olan her şey silinir.",
  ],
  unfinished: [
    "The erasure of this clinic has begun and is not over. Erase it again to go on.",
    "Bu kliniğin silinmesi başladı ama bitmedi. Sürdürmek için yeniden silin.",
  ],
  pcs: ["Clinic PCs", "Klinik bilgisayarları"],
  noPc: ["No PC is paired yet.", "Henüz eşleştirilmiş bilgisayar yok."],
  pc: ["PC", "Bilgisayar"],
  pcNumber: ["PC {number}", "Bilgisayar {number}"],
  state: ["State", "Durum"],
  version: ["Version", "Sürüm"],
  queue: ["Waiting to be sent", "Gönderilmeyi bekleyen"],
  neverHeard: ["never heard", "hiç haber yok"],
  running: ["connected, heard {time}", "bağlı, son haber {time}"],
  silent: ["silent, last heard {time}", "sessiz, son haber {time}"],
  faults: ["{all}, {count} with a fault", "{all}, {count} arızalı"],
  waiting: ["{count}, the oldest {time}", "{count}, en eskisi {time}"],
  looks: ["Looks into the clinic", "Kliniğe bakışlar"],
  noLook: ["Nobody looked into this clinic.", "Bu kliniğe kimse bakmadı."],
});
