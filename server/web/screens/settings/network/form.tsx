import type {
  NetworkRefusal,
  NetworkSetting,
  NetworkState,
  NetworkWay,
} from "../../../../dashboard/types/settings/network.ts";
import { LAN_PORT } from "../../../../dashboard/types/settings/network.ts";
import { useState } from "preact/hooks";
import { Problem } from "../../../resource.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { formValues } from "../../../ui/form/form.ts";
import { useAction } from "../../../ui/form/use-action.ts";
import { t } from "./texts.ts";

const WAYS: readonly NetworkWay[] = ["this machine", "own authority", "own certificate", "proxy"];

interface Props {
  readonly state: NetworkState;
  /** The outcome of the last change; null before one. */
  readonly outcome: NetworkRefusal | "applied" | null;
  readonly apply: (setting: NetworkSetting) => Promise<void>;
}

/** Chooses which machines can reach the server. */
export function NetworkForm({ state, outcome, apply }: Props) {
  const { run, error, isRunning } = useAction();
  const [way, setWay] = useState(state.way);
  const submit = (event: SubmitEvent) => {
    const setting = settingOf(way, formValues(event));
    void run(() => apply(setting));
  };
  const isHere = new URL(state.here).origin === location.origin;
  return (
    <form onSubmit={submit}>
      <fieldset>
        <legend>{t("choose")}</legend>
        {WAYS.map((one) => (
          <label key={one} class="check">
            <input type="radio" name="way" value={one} checked={way === one} onChange={() => setWay(one)} />
            <span>
              {t(one)}
              <span class="hint">{t(`${one}Hint`)}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {(way === "own authority" || way === "own certificate") && <PortField port={state.port ?? undefined} />}
      {way === "own certificate" && (
        <>
          <Pem name="chain" />
          <Pem name="key" />
        </>
      )}
      {way === "proxy" && <ProxyFields of={state.proxy} />}
      {!isHere && <p class="quiet">{t("mayEnd", { here: state.here })}</p>}
      {error !== undefined && <Problem error={error} />}
      {outcome !== null && outcome !== "applied" && (
        <p class="fault" role="alert">
          {t("refused")}: {t(outcome.code, { got: outcome.got })}
        </p>
      )}
      <p class="actions">
        <button type="submit" class="primary" disabled={isRunning}>
          {t("save")}
        </button>
        <span role="status">{outcome === "applied" && t("saved")}</span>
      </p>
    </form>
  );
}

/** A text that is pasted or read from a file. */
function Pem({ name }: { name: "chain" | "key" }) {
  const [text, setText] = useState("");
  return (
    <>
      <Field label={t(name)} hint={t(`${name}Hint`)}>
        <textarea
          name={name}
          value={text}
          required
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }: { currentTarget: HTMLTextAreaElement }) => setText(currentTarget.value)}
        />
      </Field>
      <Field label={t(`${name}File`)}>
        <input
          type="file"
          accept=".pem,.crt,.cer,.key,.txt"
          onChange={({ currentTarget }: { currentTarget: HTMLInputElement }) =>
            void currentTarget.files?.[0]?.text().then(setText)
          }
        />
      </Field>
    </>
  );
}

function ProxyFields({ of: proxy }: { of: NetworkState["proxy"] }) {
  const [isElsewhere, setElsewhere] = useState(proxy?.listen != null);
  return (
    <>
      <Field label={t("url")} hint={t("urlHint")}>
        <input name="url" type="url" required defaultValue={proxy?.url ?? ""} />
      </Field>
      <Field label={t("proxies")} hint={t("proxiesHint")}>
        <input name="proxies" required spellcheck={false} defaultValue={proxy?.proxies.join(" ") ?? "127.0.0.1"} />
      </Field>
      <label class="check">
        <input
          type="checkbox"
          checked={isElsewhere}
          onChange={({ currentTarget }) => setElsewhere(currentTarget.checked)}
        />
        {t("isElsewhere")}
      </label>
      {isElsewhere && (
        <>
          <Field label={t("host")}>
            <input name="host" required spellcheck={false} defaultValue={proxy?.listen?.host ?? ""} />
          </Field>
          <PortField port={proxy?.listen?.port} />
        </>
      )}
    </>
  );
}

function settingOf(way: NetworkWay, fields: Record<string, string>): NetworkSetting {
  const { chain = "", key = "", url = "", proxies = "", host } = fields;
  const port = Number(fields["port"]);
  switch (way) {
    case "this machine":
      return { way };
    case "own authority":
      return { way, port };
    case "own certificate":
      return { way, port, chain, key };
    case "proxy":
      return {
        way,
        url: url.trim().replace(/\/+$/, ""),
        proxies: proxies.split(/[\s,]+/).filter((one) => one !== ""),
        listen: host === undefined ? null : { host: host.trim(), port },
      };
  }
}

function PortField({ port = LAN_PORT }: { port: number | undefined }) {
  return (
    <Field label={t("port")} hint={t("portHint")}>
      <input name="port" type="number" min={1} max={65_535} required defaultValue={String(port)} />
    </Field>
  );
}
