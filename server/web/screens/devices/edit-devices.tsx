import { useEffect, useRef, useState } from "preact/hooks";
import type { AgentDevices, AgentShown } from "../../../dashboard/types/devices/devices.ts";
import { call } from "../../api.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { Field } from "../../ui/form/field.tsx";
import { CloseButton, Dialog } from "../../ui/form-dialog/dialog.tsx";
import { FormDialog } from "../../ui/form-dialog/form-dialog.tsx";
import { OwnProfilesField } from "./own-profiles.tsx";
import { t } from "./texts.ts";

/** Edits the devices of a PC as YAML. The PC checks the text and reports the errors. */
export function EditDevices({ agent, close }: { agent: AgentShown; close: () => void }) {
  const path = `/agents/${agent.fp}/devices`;
  const resource = useResource<AgentDevices>(path);
  const { data, reload } = resource;
  const title = t("editTitle", { name: agent.key.name });
  if (data?.devices == null) {
    return (
      <Dialog title={title} close={close} foot={<CloseButton />}>
        <Loaded of={resource}>
          {({ state }) => <p>{t(state === "local" ? "localNext" : "unknownConfiguration")}</p>}
        </Loaded>
      </Dialog>
    );
  }
  const { state, devices, problems } = data;
  return <Editor {...{ title, close, path, state, problems, reload }} edited={devices} />;
}

interface EditorProps {
  title: string;
  close: () => void;
  path: string;
  state: AgentDevices["state"];
  /** The stored text. It may change while the editor is open; the typed text then remains. */
  edited: string;
  problems: AgentDevices["problems"];
  reload: () => Promise<void>;
}

function Editor({ title, close, path, state, edited, problems, reload }: EditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(edited);
  // The stored text with which the typed one began: the server refuses to replace another.
  const [base, setBase] = useState(edited);
  useEffect(() => {
    if (text !== base && text !== edited) return;
    setText(edited);
    setBase(edited);
  }, [edited]);
  const save = async () => {
    await call("PUT", `${clinicPath()}${path}`, { devices: text, edited: base });
    setBase(text);
    await reload();
  };
  const isSaved = text === edited;
  return (
    <FormDialog
      title={title}
      close={close}
      act={save}
      button={t("save")}
      isReady={!isSaved || state === "refused"}
      staysOpen
      leave={t("close")}
    >
      <Field label={t("devicesText")} hint={t("devicesHint")}>
        <textarea
          class="devices-text"
          ref={field}
          rows={16}
          wrap="off"
          spellcheck={false}
          autocomplete="off"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </Field>
      <OwnProfilesField />
      <div role="status">
        {isSaved && state === "waiting" && <p class="quiet">{t("waitingNext")}</p>}
        {isSaved && state === "applied" && <p class="quiet">{t("appliedNext")}</p>}
        {isSaved && problems.length > 0 && <p class="note note-bad">{t("refusedNext")}</p>}
      </div>
      {isSaved && problems.length > 0 && (
        <ul class="devices-problems">
          {problems.map(({ line, message }) => (
            <li key={`${line} ${message}`}>
              <button type="button" onClick={() => selectLine(field.current, line)}>
                {t("line", { line })}
              </button>{" "}
              <span lang="en">{message}</span>
            </li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

/** Selects a line of the text, counted from 1, to mark the place of an error. */
function selectLine(field: HTMLTextAreaElement | null, line: number): void {
  if (field === null) return;
  const lines = field.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  field.focus();
  field.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
}
