import { useSignal } from "@preact/signals";
import type { LocalSentProfile } from "../../types/own-profiles.ts";
import { call } from "../../../../server/web/api.ts";
import { Problem } from "../../../../server/web/resource.tsx";
import { useAction } from "../../../../server/web/ui/form/use-action.ts";
import { sentWord, t } from "./texts.ts";

/** Sends an own profile to the dashboard, so that another PC of the clinic can use it. */
export function SendProfile({ profile }: { profile: string }) {
  const sent = useSignal<LocalSentProfile | null>(null);
  const { run, error, retry, isRunning } = useAction();
  const send = () =>
    void run(async () => {
      sent.value = await call<LocalSentProfile>("POST", "/profiles/sent", { profile });
    });
  return (
    <>
      <button type="button" disabled={isRunning} onClick={send}>
        {t("send", { profile })}
      </button>
      {error !== undefined && <Problem error={error} retry={retry} />}
      <span role="status">{sent.value !== null && ` ${sentWord(sent.value)}`}</span>
    </>
  );
}

/** The clinic's own profiles of this PC. */
export function OwnProfiles({ own }: { own: readonly string[] }) {
  if (own.length === 0) return null;
  return (
    <section class="card" aria-labelledby="maker-own">
      <h2 id="maker-own">{t("ownProfiles")}</h2>
      <p>{t("sendWhy")}</p>
      <ul class="plain-list">
        {own.map((profile) => (
          <li key={profile}>
            <SendProfile profile={profile} />
          </li>
        ))}
      </ul>
    </section>
  );
}
