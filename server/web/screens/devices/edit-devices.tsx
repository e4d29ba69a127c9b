import { useRef, useState } from "preact/hooks";
import type { AgentDevices, AgentShown } from "../../../dashboard/types/devices.ts";
import { call } from "../../api.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { ActionForm } from "../../ui/action-form.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { t } from "./texts.ts";

/** Edits the devices of a PC as lines of YAML. The PC itself checks them, and says why it refuses some. */
export function EditDevices({ agent, close }: { agent: AgentShown; close: () => void }) {
  const path = `/agents/${agent.fp}/devices`;
  const resource = useResource<AgentDevices>(path);
  return (
    <Dialog title={t("editTitle", { name: agent.key.name })} close={close}>
      <Loaded of={resource}>
        {({ state, devices, problems }) =>
          devices === null ? (
            <p>{t(state === "local" ? "localNext" : "unknownConfiguration")}</p>
          ) : (
            <Editor path={path} state={state} edited={devices} problems={problems} reload={resource.reload} />
          )
        }
      </Loaded>
    </Dialog>
  );
}

interface EditorProps {
  path: string;
  state: AgentDevices["state"];
  /** The text of the server. It changes while the editor is open; the user's own text stays. */
  edited: string;
  problems: AgentDevices["problems"];
  reload: () => Promise<void>;
}

function Editor({ path, state, edited, problems, reload }: EditorProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(edited);
  const save = async () => {
    await call("PUT", `${clinicPath()}${path}`, { devices: text, edited });
    await reload();
  };
  const isSaved = text === edited;
  return (
    <ActionForm act={save} button={t("save")} isReady={!isSaved || state === "refused"} leave={t("close")}>
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
    </ActionForm>
  );
}

/** Selects a line of the text, counted from 1, so that the eye finds it. */
function selectLine(field: HTMLTextAreaElement | null, line: number): void {
  if (field === null) return;
  const lines = field.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  field.focus();
  field.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
}
