import { useState } from "preact/hooks";
import type { MailServerState } from "../../../../dashboard/types/settings/mail-server.ts";
import { call } from "../../../api.ts";
import { Loaded, useResource } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { SettingsFrame } from "../frame.tsx";
import { MailServerForm } from "./form.tsx";
import { MailTest } from "./mail-test.tsx";
import { t } from "./texts.ts";

/** Settings, E-mail: the mail server through which the server sends. */
export function MailSettings() {
  return (
    <SettingsFrame part="mail">
      <Mail />
    </SettingsFrame>
  );
}

function Mail() {
  // Not reloaded at changes of the clinic's data, because that would overwrite the form during typing.
  const state = useResource<MailServerState>("/mail-server", clinicPath(), false);
  const [isRemoving, setRemoving] = useState(false);
  // A removal empties the form. A save keeps it, with its words.
  const [removals, setRemovals] = useState(0);
  const remove = async () => {
    await call("DELETE", `${clinicPath()}/mail-server`);
    await state.reload();
    setRemovals(removals + 1);
  };
  return (
    <>
      <p class="quiet">{t("intro")}</p>
      <Loaded of={state}>
        {(shown) => (
          <>
            {shown.fixed_by.length > 0 ? (
              <p class="card">{t("fixed", { options: shown.fixed_by.join(" ") })}</p>
            ) : shown.may_change ? (
              <MailServerForm key={removals} state={shown} reload={state.reload} remove={() => setRemoving(true)} />
            ) : (
              <p class="card">{t("mayNot")}</p>
            )}
            <MailTest />
          </>
        )}
      </Loaded>
      {isRemoving && (
        <FormDialog
          title={t("removeTitle")}
          button={t("remove")}
          isDangerous
          act={remove}
          close={() => setRemoving(false)}
        >
          <p>{t("removeWhy")}</p>
        </FormDialog>
      )}
    </>
  );
}
