import type { LocalDevice } from "../../types/overview.ts";
import { ago, language } from "../../../../server/web/text.ts";
import { readingText } from "../../types/words/reading-words.ts";
import { lineText } from "../../../../shared/network/line-reasons.ts";
import type { Tone } from "../../../../server/web/ui/status/status-card.tsx";
import { t } from "./texts.ts";

/** After so long without a message a device that sent some is called silent. Weekends of a clinic are shorter. */
const SILENT_MS = 3 * 24 * 60 * 60_000;
/** A silence that is a fault, as at the dashboard. A shorter one may be a long weekend: the dashboard knows the device's rhythm. */
const LONG_SILENT_MS = 14 * 24 * 60 * 60_000;

export interface DeviceWords {
  readonly tone: Tone;
  readonly state: string;
  /** The remedy; null if nothing is to do. */
  readonly next: string | null;
  /** The sentence is the agent's own, in English. */
  readonly isEnglish?: boolean;
}

/** Describes the state of a device in words, with its remedy. */
export function deviceWords(device: LocalDevice): DeviceWords {
  const { state, reason, code = "", values = [], may_be_off, noise, profile, line, way, last_message_at } = device;
  if (reason !== null) {
    const known = (["cannot open", "cannot listen", "cannot connect"] as const).find((word) => word === state);
    const word = may_be_off ? t("off") : known === undefined ? state : t(known);
    const own = lineText({ code, values: [...values] }, language.value);
    return { tone: may_be_off ? "plain" : "bad", state: word, next: own ?? reason, isEnglish: own === null };
  }
  if (noise !== null) {
    const { bytes, protocol } = noise;
    const next =
      protocol === null
        ? t("foreignUnknown", { bytes, profile })
        : t("foreignKnown", {
            bytes,
            protocol: readingText(protocol, language.value) ?? protocol,
            profile,
          });
    return { tone: "bad", state: t("foreign"), next };
  }
  if (state === "connecting" || state === "opening") return { tone: "plain", state: t(state), next: null };
  if (last_message_at === null) {
    const next = { serial: "waitsSerial", listen: "waitsListen", dial: "waitsDial", folder: "waitsFolder" } as const;
    const isOpen = state === "connected" && way !== "serial";
    return { tone: "plain", state: isOpen ? t("connected") : t("waits"), next: t(next[way], { line }) };
  }
  const silentMs = Date.now() - Date.parse(last_message_at);
  if (silentMs > SILENT_MS) {
    const tone = silentMs > LONG_SILENT_MS ? "bad" : "warn";
    return { tone, state: t("silent"), next: t("silentNext", { when: ago(last_message_at) }) };
  }
  if (way === "folder") return { tone: "good", state: t("folderWatched"), next: null };
  if (state !== "connected") return { tone: "good", state: t("ready"), next: t("readyNext") };
  return { tone: "good", state: way === "serial" ? t("portOpen") : t("connected"), next: null };
}

const ORDER: readonly Tone[] = ["bad", "warn", "plain", "good"];

/** Orders the devices by how much they need a person, and otherwise as they are configured. */
export function byNeed(devices: readonly LocalDevice[]): LocalDevice[] {
  return devices.toSorted(
    (one, other) => ORDER.indexOf(deviceWords(one).tone) - ORDER.indexOf(deviceWords(other).tone),
  );
}

/** Counts the devices that do not work until a person helps. */
export function faultyDevices(devices: readonly LocalDevice[]): number {
  return devices.filter((device) => deviceWords(device).tone === "bad").length;
}
