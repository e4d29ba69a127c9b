import { useState } from "preact/hooks";
import type { LineStep, SetupLine } from "../../types/setup.ts";
import { Field } from "../../../../server/web/ui/form/field.tsx";
import { formValues } from "../../../../server/web/ui/form/form.ts";
import type { Say } from "./say.ts";
import { t } from "./texts.ts";

type Kind = SetupLine["kind"];
const KINDS: readonly Kind[] = ["serial", "listen", "dial", "folder", "imaging"];

/** Prompts for the connection of the new device. */
export function ChooseLine({ step, say }: { step: LineStep; say: Say }) {
  const free = step.ports.filter(({ device }) => device === null);
  const [kind, setKind] = useState<Kind>(free.length > 0 ? "serial" : "listen");
  const submit = (event: SubmitEvent) => {
    const { path = "", port = "", address = "", leave } = formValues(event);
    const line =
      kind === "folder" ? { kind, path, leave: leave !== undefined } : lineOf(kind, path, Number(port), address);
    void say({ to: "line", line });
  };
  return (
    <form onSubmit={submit}>
      {step.folder !== null && (
        <p class="note" role="status">
          {t(step.folder.code, { by: step.folder.by })}
        </p>
      )}
      <fieldset>
        <legend>{t("howConnected")}</legend>
        {KINDS.map((one) => (
          <label key={one} class="check">
            <input type="radio" name="kind" value={one} checked={kind === one} onChange={() => setKind(one)} />
            {t(one)}: {t(`${one}What`)}
          </label>
        ))}
      </fieldset>
      <Details kind={kind} step={step} key={kind} />
      <button type="submit" class="primary">
        {t(kind === "folder" ? "lookIn" : "listenNow")}
      </button>
    </form>
  );
}

function Details({ kind, step: { ports, addresses, freePort, imagingPort, folders } }: { kind: Kind; step: LineStep }) {
  switch (kind) {
    case "serial":
      return <SerialPorts ports={ports} />;
    case "dial":
      return (
        <Field label={t("deviceAddress")} hint={t("deviceAddressHint")}>
          <input name="address" placeholder="192.168.1.50:5500" spellcheck={false} required />
        </Field>
      );
    case "folder":
      return <Folder folders={folders} />;
    case "listen":
    case "imaging":
      return (
        <>
          <Field label={t("port")} hint={t("portHint")}>
            <input
              name="port"
              type="number"
              min={1}
              max={65_535}
              defaultValue={String(kind === "listen" ? freePort : imagingPort)}
              required
            />
          </Field>
          <p>
            {t("typeAddress")} <strong>{addresses.join(", ")}</strong>
          </p>
          {kind === "imaging" && <p>{t("anyAeTitle")}</p>}
        </>
      );
  }
}

/** The ports of this PC, and any other path: a port may have been plugged in just now. */
function SerialPorts({ ports }: Pick<LineStep, "ports">) {
  return (
    <>
      <Field label={t("serialPort")} hint={ports.length === 0 ? t("noPorts") : t("serialPortHint")}>
        <input
          name="path"
          list="ports"
          defaultValue={ports.find(({ device }) => device === null)?.path ?? ""}
          spellcheck={false}
          required
        />
      </Field>
      <datalist id="ports">
        {ports.map(({ path, name }) => (
          <option key={path} value={path}>
            {name}
          </option>
        ))}
      </datalist>
      {ports.length > 0 && (
        <ul class="ports">
          {ports.map(({ path, name, device }) => (
            <li key={path}>
              {name}
              {device !== null && <span class="quiet"> ({t("portTaken", { device })})</span>}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Any folder can be typed; those where programs usually export are offered. */
function Folder({ folders }: Pick<LineStep, "folders">) {
  return (
    <>
      <Field label={t("folderPath")} hint={t("folderPathHint")}>
        <input name="path" list="folders" spellcheck={false} maxLength={1000} required />
      </Field>
      <datalist id="folders">
        {folders.map((folder) => (
          <option key={folder} value={folder}>
            {folder}
          </option>
        ))}
      </datalist>
      <label class="check">
        <input type="checkbox" name="leave" />
        {t("leave")}
      </label>
      <p class="hint">{t("leaveHint")}</p>
    </>
  );
}

function lineOf(kind: Exclude<Kind, "folder">, path: string, port: number, address: string): SetupLine {
  switch (kind) {
    case "serial":
      return { kind, path };
    case "dial":
      return { kind, address };
    case "listen":
    case "imaging":
      return { kind, port };
  }
}
