import type { CallerShown, DeviceShown } from "../../../dashboard/types/devices/devices.ts";
import { ago } from "../../text.ts";
import { callerYaml } from "./agent-yaml.ts";
import { Lines } from "./connect-steps.tsx";
import { t } from "./texts.ts";

/** Unknown addresses that connected, each with the lines of agent.yaml that would make it a device. */
export function Callers({ callers, devices }: { callers: CallerShown[]; devices: DeviceShown[] }) {
  return (
    <>
      <h3>{t("callers")}</h3>
      <p class="quiet">
        {t("callersWhy")} {t("strangerNext")}
      </p>
      <ul class="plain-list callers">
        {callers.map((caller) => (
          <li key={`${caller.device} ${caller.address} ${caller.why}`}>
            <Caller caller={caller} devices={devices} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Caller({ caller, devices }: { caller: CallerShown; devices: DeviceShown[] }) {
  const { address, device, at, count, why, protocol } = caller;
  const yaml = callerYaml(caller, devices);
  return (
    <>
      <p>
        <strong>{address}</strong> → {device} · {t(why)}
        {protocol !== null && ` (${t("looksLike", { protocol })})`} ·{" "}
        <span class="quiet">
          {count} × · {ago(at)}
        </span>
      </p>
      <details>
        <summary>{t("adopt")}</summary>
        <p>{yaml === null ? t("sniffNext") : why === "not allowed" ? t("allowNext") : t("adoptNext")}</p>
        {yaml !== null && <Lines text={yaml} />}
      </details>
    </>
  );
}
