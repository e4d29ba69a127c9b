import type { ClinicState, HostedClinic, QuotaMeter } from "../../dashboard/types/operator.ts";
import { ago, translations } from "../text.ts";
import { State, type Tone } from "../ui/status/status-card.tsx";

// The words for the state of a clinic.

const tones: Readonly<Record<ClinicState, Tone>> = {
  silent: "bad",
  errors: "bad",
  waiting: "bad",
  "over quota": "warn",
  behind: "warn",
  "no PC": "warn",
  well: "good",
  suspended: "plain",
};

/** States that need the operator. */
export const needsOperator: readonly ClinicState[] = ["silent", "errors", "waiting", "over quota"];

/** The words for a meter that is over its limit. */
export function overWords(meter: QuotaMeter): string {
  return t(
    ({ devices: "overDevices", api_calls_this_month: "overCalls", storage_bytes: "overStorage" } as const)[meter],
  );
}

export function StateOf({ clinic: { state, pcs, last_seen_at, over_quota: over } }: { clinic: HostedClinic }) {
  const silent = pcs.total - pcs.connected;
  const words =
    state === "silent"
      ? last_seen_at === null
        ? t("never")
        : t("silent", { count: silent, time: ago(last_seen_at) })
      : state === "behind"
        ? t("behind", { count: pcs.behind })
        : state === "over quota"
          ? over.map(overWords).join(", ")
          : t(state);
  return <State tone={tones[state]}>{words}</State>;
}

/** The name of a state, for a filter. */
export function stateName(state: ClinicState): string {
  return t(state === "silent" ? "silentName" : state === "behind" ? "behindName" : state);
}

const t = translations({
  silent: ["{count} {count|PC|PCs} silent, last heard {time}", "{count} bilgisayar sessiz, son haber {time}"],
  silentName: ["PC silent", "Bilgisayar sessiz"],
  never: ["no PC was heard yet", "henüz hiçbir bilgisayardan haber yok"],
  errors: ["a device has a fault", "bir cihazda arıza var"],
  waiting: ["results wait on a PC", "sonuçlar bilgisayarda bekliyor"],
  "over quota": ["over its quota", "kotasını aştı"],
  overDevices: ["over its quota of devices", "cihaz kotasını aştı"],
  overCalls: ["over its quota of API calls", "API çağrısı kotasını aştı"],
  overStorage: ["over its quota of storage", "depolama kotasını aştı"],
  behind: ["{count} {count|PC|PCs} on an older version", "{count} bilgisayarda eski sürüm"],
  behindName: ["Older version", "Eski sürüm"],
  "no PC": ["no PC yet", "henüz bilgisayar yok"],
  well: ["all well", "her şey yolunda"],
  suspended: ["suspended by you", "sizce askıya alındı"],
});
