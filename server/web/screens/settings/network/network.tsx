import type {
  NetworkBody,
  NetworkChange,
  NetworkRefusal,
  NetworkState,
} from "../../../../dashboard/types/settings/network.ts";
import { useState } from "preact/hooks";
import { call } from "../../../api.ts";
import { Loaded, useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { date } from "../../../text.ts";
import { SettingsFrame } from "../frame.tsx";
import { NetworkForm } from "./form.tsx";
import { t } from "./texts.ts";
import { TrustSteps } from "./trust-steps.tsx";
import "./network.css";

/** Settings, Network: how other machines reach the server. */
export function NetworkSettings() {
  return (
    <SettingsFrame part="network">
      <Network />
    </SettingsFrame>
  );
}

function Network() {
  // Not reloaded at changes of the clinic's data, because that would overwrite the form during typing.
  const loaded = useResource<NetworkBody>("/network", clinicPath(), false);
  const [change, setChange] = useState<NetworkChange | null>(null);
  return (
    <Loaded of={loaded}>
      {({ may_change, ...first }) => {
        // A change may close the address of this page: its response is then the last one.
        const state = change?.network ?? first;
        return (
          <div class="network">
            <p class="quiet">{t("intro", { here: state.here })}</p>
            <Now state={state} />
            {state.fixed_by.length > 0 ? (
              <p class="card">{t("fixed", { options: state.fixed_by.join(" ") })}</p>
            ) : may_change ? (
              <NetworkForm
                state={state}
                outcome={change && (change.refused ?? "applied")}
                apply={async (setting) =>
                  setChange(await call<NetworkChange>("PUT", `${clinicPath()}/network`, setting))
                }
              />
            ) : (
              <p class="card">{t("mayNot")}</p>
            )}
            {state.way === "own authority" && state.authority !== null && (
              <TrustSteps fingerprint={state.authority.fingerprint} address={state.addresses[0]} />
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

function Now({ state: { way, addresses, certificate, fault } }: { state: NetworkState }) {
  return (
    <section>
      <h2>{t("now")}</h2>
      {fault !== null && (
        <p class="fault" role="alert">
          {t("fault")} <Refusal of={fault} />
        </p>
      )}
      {addresses.length === 0 && <p>{t("nobody")}</p>}
      <ul class="addresses">
        {addresses.map((address) => (
          <li key={address}>
            <a href={`${address}/dashboard`}>{address}</a>
          </li>
        ))}
      </ul>
      {certificate !== null && way !== "proxy" && (
        <>
          <h3>{t("certificate")}</h3>
          <p>{t("certificateOf", { names: certificate.names.join(", ") })}</p>
          <p class="quiet">
            {t(way === "own authority" ? "renews" : "validUntil", { date: date(certificate.valid_until) })}
          </p>
        </>
      )}
    </section>
  );
}

export function Refusal({ of: { code, got } }: { of: NetworkRefusal }) {
  return <>{t(code, { got })}</>;
}
