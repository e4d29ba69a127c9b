import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { LocalDevice } from "../../types/overview.ts";
import { ago } from "../../../../server/web/text.ts";
import { Facts } from "../../../../server/web/ui/status/facts.tsx";
import { StatusCard } from "../../../../server/web/ui/status/status-card.tsx";
import { ReasonText } from "../messages/reason.tsx";
import { deviceWords } from "./device-words.ts";
import { LiveBytes } from "./live-bytes.tsx";
import { t } from "./texts.ts";

/** Bytes came within this time, so that the dot beats. */
const HEARING_MS = 5_000;

/** A device: its state in words with what to do, its last message, its day, and its bytes while they arrive. */
export function Device({ device, adopt }: { device: LocalDevice; adopt: () => void }) {
  const { id, profile, line, last_bytes_at, last_message_at, last_warning, noise, refused, gave_way } = device;
  const { tone, state, next, isEnglish } = deviceWords(device);
  const isLive = useSignal(false);
  const isHearing = useIsRecent(last_bytes_at);
  return (
    <StatusCard
      name={id}
      level="h2"
      origin={`${profile}, ${line}`}
      tone={tone}
      state={
        <>
          {state}
          {isHearing && <span class="visually-hidden">, {t("hearing")}</span>}
        </>
      }
      isBusy={isHearing}
    >
      {next !== null && <p lang={isEnglish ? "en" : undefined}>{next}</p>}
      <Newer profile={device.newer_profile} adopt={adopt} />
      {noise !== null && (
        <p>
          <a href={`/maker?device=${encodeURIComponent(id)}`}>{t("maker")}</a>
        </p>
      )}
      {noise !== null && (
        <details>
          <summary>{t("sample")}</summary>
          <pre class="wire" tabIndex={0} role="region" aria-label={t("sampleOf", { device: id })}>
            {noise.hex.join("\n")}
          </pre>
        </details>
      )}
      <p>
        {last_message_at === null ? t("noMessage") : t("lastMessage", { when: ago(last_message_at) })}
        {last_bytes_at !== null && <span class="quiet">, {t("lastBytes", { when: ago(last_bytes_at) })}</span>}
      </p>
      <Today of={device.today} />
      {last_warning !== null && noise === null && device.reason === null && (
        <p class="quiet">
          {t("warning", { when: ago(last_warning.at) })}: <ReasonText of={{ reason: last_warning.reason }} />
        </p>
      )}
      {gave_way !== null && <p lang="en">{gave_way}</p>}
      <Refused of={refused} />
      <p class="actions">
        <a href={`/messages?device=${encodeURIComponent(id)}`}>{t("messages", { device: id })}</a>
        {device.protocol === "dicom" ? (
          <span class="quiet">{t("liveFiles")}</span>
        ) : (
          <button type="button" aria-expanded={isLive.value} onClick={() => (isLive.value = !isLive.value)}>
            {isLive.value ? t("liveHide") : t("liveShow")}
          </button>
        )}
      </p>
      {isLive.value && <LiveBytes device={id} />}
    </StatusCard>
  );
}

/** A newer revision of the device's own profile, which a person adopts after a look at its changes. */
function Newer({ profile, adopt }: { profile: string | null; adopt: () => void }) {
  if (profile === null) return null;
  return (
    <p class="between">
      {t("newer", { profile })}{" "}
      <button type="button" onClick={adopt}>
        {t("seeChanges")}
      </button>
    </p>
  );
}

function Refused({ of: refused }: { of: LocalDevice["refused"] }) {
  if (refused.length === 0) return null;
  return (
    <div class="refused">
      <h3>{t("refused")}</h3>
      <p>{t("refusedNext")}</p>
      <ul>
        {refused.map(({ address, count, at }) => (
          <li key={address}>{t("refusedOne", { address, count, when: ago(at) })}</li>
        ))}
      </ul>
    </div>
  );
}

/** Whether an instant is at most HEARING_MS ago. It ends by itself. */
function useIsRecent(instant: string | null): boolean {
  const isRecent = useSignal(false);
  useEffect(() => {
    const leftMs = instant === null ? 0 : Date.parse(instant) + HEARING_MS - Date.now();
    isRecent.value = leftMs > 0;
    const timer = setTimeout(() => (isRecent.value = false), Math.max(0, leftMs));
    return () => clearTimeout(timer);
  }, [instant]);
  return isRecent.value;
}

function Today({ of: { received, filed, unmatched, quarantined, not_for_patients } }: { of: LocalDevice["today"] }) {
  const rest: [string, number][] = [
    [t("filed"), filed],
    [t("unmatched"), unmatched],
    [t("quarantined"), quarantined],
    [t("notForPatients"), not_for_patients],
  ];
  const counts = [[t("received"), received] as const, ...rest.filter(([, count]) => count > 0)];
  return <Facts of={[[t("today"), counts.map(([word, count]) => `${count} ${word}`).join(", ")]]} />;
}
