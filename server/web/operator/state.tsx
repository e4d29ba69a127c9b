import type { ClinicState, HostedClinic } from "../../dashboard/types/operator.ts";
import { ago, translations } from "../text.ts";
import { State, type Tone } from "../ui/status/status-card.tsx";

// The words for the state of a clinic.

const tones: Readonly<Record<ClinicState, Tone>> = {
  silent: "bad",
  errors: "bad",
  waiting: "bad",
  behind: "warn",
  "no PC": "warn",
  well: "good",
  suspended: "plain",
};

/** States that need the operator. */
export const needsOperator: readonly ClinicState[] = ["silent", "errors", "waiting"];

export function StateOf({ clinic: { state, pcs, last_seen_at } }: { clinic: HostedClinic }) {
  const silent = pcs.total - pcs.connected;
  const words =
    state === "silent"
      ? last_seen_at === null
        ? t("never")
        : t("silent", { count: silent, time: ago(last_seen_at) })
      : state === "behind"
        ? t("behind", { count: pcs.behind })
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
  behind: ["{count} {count|PC|PCs} on an older version", "{count} bilgisayarda eski sürüm"],
  behindName: ["Older version", "Eski sürüm"],
  "no PC": ["no PC yet", "henüz bilgisayar yok"],
  well: ["all well", "her şey yolunda"],
  suspended: ["suspended by you", "sizce askıya alındı"],
});
