import { useEffect, useState } from "preact/hooks";
import type { AgentShown, PairingCode } from "../../../dashboard/types/devices/devices.ts";
import { call } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { useAction } from "../../ui/form/use-action.ts";
import { CloseButton, Dialog } from "../../ui/form-dialog/dialog.tsx";
import { Lines } from "./connect-steps.tsx";
import { t } from "./texts.ts";

/** Adds a clinic PC: shows a code with its instructions, then the PC once it has used the code. */
export function AddPc({ agents }: { agents: readonly AgentShown[] }) {
  const { run, retry, error, isRunning } = useAction();
  const [made, setMade] = useState<{ code: PairingCode; before: ReadonlySet<string> } | null>(null);
  const make = () =>
    void run(async () => {
      const before = new Set(agents.map(({ key }) => key.id));
      setMade({ code: await call<PairingCode>("POST", `${clinicPath()}/pairing-code`, {}), before });
    });
  const added = agents.find(({ key, paired_at }) => paired_at !== null && made?.before.has(key.id) === false);
  return (
    <>
      <p class="actions">
        <button type="button" class="primary" disabled={isRunning} onClick={make}>
          {t("addPc")}
        </button>
      </p>
      {error !== undefined && made === null && <Problem error={error} retry={retry} />}
      {made !== null && (
        <Dialog title={t("addPc")} close={() => setMade(null)} foot={<CloseButton />}>
          <div role="status">{added !== undefined && <p class="note">{t("added", { name: added.key.name })}</p>}</div>
          {added === undefined && <Code of={made.code} renew={make} />}
          {error !== undefined && <Problem error={error} retry={retry} />}
        </Dialog>
      )}
    </>
  );
}

function Code({ of: { code, expires_at, server }, renew }: { of: PairingCode; renew: () => void }) {
  const minutes = useMinutesUntil(expires_at);
  const address = server ?? location.origin;
  if (minutes <= 0) {
    return (
      <>
        <p>{t("codeOver")}</p>
        <p class="actions">
          <button type="button" class="primary" onClick={renew}>
            {t("newCode")}
          </button>
        </p>
      </>
    );
  }
  return (
    <>
      <p>{t("codeWhere")}</p>
      <p class="pairing-code">
        <strong>{code}</strong>
      </p>
      <p>{t("codeServer")}</p>
      <Lines text={address} label={t("serverAddress")} />
      <p class="quiet">{t("codeEnds", { minutes })}</p>
      <p>{t("codeCommand")}</p>
      <Lines text={`vetwire agent pair --server ${address} --code ${code}`} label={t("command")} />
      {isLoopback(address) && (
        <p class="note">
          {t("onlyHere")} <a href="/dashboard/settings/network">{t("openNetwork")}</a>
        </p>
      )}
    </>
  );
}

/** Whether an address is a loopback address, which other machines cannot reach. */
function isLoopback(address: string): boolean {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(address).hostname);
}

const MINUTE_MS = 60_000;

/** Counts down the remaining minutes. With a wrong browser clock it shows at most the full time. */
function useMinutesUntil(end: string): number {
  const minutesLeft = () => Math.min(15, Math.ceil((Date.parse(end) - Date.now()) / MINUTE_MS));
  const [minutes, setMinutes] = useState(minutesLeft);
  useEffect(() => {
    setMinutes(minutesLeft());
    const timer = setInterval(() => setMinutes(minutesLeft()), 5000);
    return () => clearInterval(timer);
  }, [end]);
  return minutes;
}
