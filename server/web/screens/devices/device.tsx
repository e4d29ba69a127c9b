import type { DayCounts, DeviceShown, DeviceState } from "../../../dashboard/types/devices/devices.ts";
import { ago, dateTime } from "../../text.ts";
import { Facts } from "../../ui/status/facts.tsx";
import { StatusCard, type Tone } from "../../ui/status/status-card.tsx";
import { DeviceLog } from "./device-log.tsx";
import { t } from "./texts.ts";
import { HeardText } from "../../ui/words/heard-text.tsx";

/** One device: its state with its remedy, its last message and its day. */
export function Device({ device }: { device: DeviceShown }) {
  const { id, name, profile, protocol, connection, state, last_message_at, last_warning, study_name, today } = device;
  const { word, next, tone } = stateWords(state, connection);
  const why = "reason" in state ? state : null;
  return (
    <StatusCard
      name={name ?? id}
      level="h3"
      origin={[...new Set([id, profile, protocol, connection])].filter(Boolean).join(" · ")}
      tone={tone}
      state={word}
    >
      {(next !== "" || why !== null) && (
        <p>
          {next} {why !== null && <HeardText of={why} />}
        </p>
      )}
      <p title={last_message_at === null ? undefined : dateTime(last_message_at)}>
        {last_message_at === null ? t("noMessage") : t("lastMessage", { ago: ago(last_message_at) })}
      </p>
      {last_warning !== null && why === null && (
        <p class="quiet">
          {t("lastWarning", { ago: ago(last_warning.at) })}: <span lang="en">{last_warning.reason}</span>
        </p>
      )}
      {today !== null && (
        <>
          <p class="quiet">{t("today")}</p>
          <Day today={today} />
        </>
      )}
      {study_name !== null && (
        <a href={`/dashboard/results?device=${encodeURIComponent(study_name)}`}>
          {t("results", { device: name ?? id })}
        </a>
      )}
      <DeviceLog device={id} />
    </StatusCard>
  );
}

function Day({ today }: { today: DayCounts }) {
  const counts = ["received", "filed", "unmatched", "quarantined", "not_for_patients"] as const;
  return <Facts of={counts.map((count) => [t(count), today[count] === 0 ? "0" : today[count]])} />;
}

function stateWords(state: DeviceState, connection: string | null): { word: string; next: string; tone: Tone } {
  switch (state.is) {
    case "connected":
      return { word: t("connected"), next: "", tone: "good" };
    case "ready":
      return { word: t("ready"), next: t("readyNext"), tone: "good" };
    case "never heard":
      return {
        word: t("never heard"),
        next: t("neverHeardDevice", { connection: connection ?? t("unknown") }),
        tone: "plain",
      };
    case "unknown":
      return { word: t("unknown device"), next: t("unknownNext"), tone: "plain" };
    case "faulty":
      return { word: t("faulty"), next: "", tone: "bad" };
    case "foreign": {
      const next = state.protocol === null ? t("foreignUnknown") : t("foreignKnown", { protocol: state.protocol });
      return { word: t("foreign"), next, tone: "bad" };
    }
    case "off":
      return { word: t("off"), next: t("offNext"), tone: "plain" };
    case "silent":
      return { word: t("silent"), next: silenceWords(state.working_ms, state.longest_ms), tone: "bad" };
  }
}

function silenceWords(workingMs: number, longestMs: number | null): string {
  if (longestMs === null) return t("silentLong");
  return t("silentWhy", { silence: duration(workingMs), longest: duration(longestMs) });
}

function duration(ms: number): string {
  const all = Math.round(ms / 60_000);
  const [hours, minutes] = [Math.floor(all / 60), all % 60];
  return hours > 0 ? t("hours", { hours, minutes }) : t("minutes", { minutes });
}
