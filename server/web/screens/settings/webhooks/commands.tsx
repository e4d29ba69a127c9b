import type {
  ResendAllBody,
  ResentMessages,
  RotateBody,
  RotatedSecret,
  WebhookRow,
} from "../../../../dashboard/types/settings/webhooks.ts";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { call } from "../../../api.ts";
import { Problem } from "../../../resource.tsx";
import { clinicPath } from "../../../session.ts";
import { Field } from "../../../ui/form/field.tsx";
import { formValues } from "../../../ui/form/form.ts";
import { useAction } from "../../../ui/form/use-action.ts";
import { FormDialog } from "../../../ui/form-dialog/form-dialog.tsx";
import { Secret } from "../keys/secret.tsx";
import { t } from "./texts.ts";
import "../keys/keys.css";

interface CommandProps {
  of: WebhookRow;
  reload: () => void;
}

async function send<T>(id: string, command: string, body: object): Promise<T> {
  return call<T>("POST", `${clinicPath()}/webhooks/${id}/${command}`, body);
}

/** The buttons of a webhook. */
export function WebhookCommands({ of: { id, url, paused }, reload }: CommandProps) {
  const { run, retry, error, isRunning } = useAction();
  const { route } = useLocation();
  const [isTested, setTested] = useState(false);
  const [dialog, open] = useState<"rotate" | "delete" | null>(null);
  const close = () => open(null);
  const test = async () => {
    setTested(await run(async () => send(id, "test", {})));
    reload();
  };
  const pause = async () => {
    await run(async () => send(id, "pause", { paused: !paused }));
    reload();
  };
  const remove = async () => {
    await send(id, "delete", {});
    route("/dashboard/settings/webhooks");
  };
  return (
    <>
      <p class="actions">
        <button type="button" class="primary" disabled={isRunning} onClick={() => void test()}>
          {t("sendTest")}
        </button>
        <button type="button" disabled={isRunning} onClick={() => void pause()}>
          {t(paused ? "resume" : "pause")}
        </button>
        <button type="button" disabled={isRunning} onClick={() => open("rotate")}>
          {t("rotate")}
        </button>
        <button type="button" class="danger" disabled={isRunning} onClick={() => open("delete")}>
          {t("delete")}
        </button>
      </p>
      <p role="status" class="quiet">
        {isTested && t("testSent")}
      </p>
      {error !== undefined && <Problem error={error} retry={retry} />}
      {dialog === "rotate" && (
        <RotateDialog
          of={id}
          close={() => {
            close();
            reload();
          }}
        />
      )}
      {dialog === "delete" && (
        <FormDialog title={t("deleteTitle")} button={t("delete")} isDangerous act={remove} close={close}>
          <p class="webhook-url">
            <code>{url}</code>
          </p>
          <p>{t("deleteWhy")}</p>
        </FormDialog>
      )}
    </>
  );
}

function RotateDialog({ of: id, close }: { of: string; close: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = async ({ grace = "" }: Record<string, string>) => {
    const body: RotateBody = { grace_hours: Number(grace) };
    setSecret((await send<RotatedSecret>(id, "rotate", body)).secret);
  };
  if (secret !== null) {
    return <Secret title={t("rotated")} of={secret} label={t("theSecret")} note={t("copyNow")} close={close} />;
  }
  return (
    <FormDialog title={t("rotateTitle")} close={close} act={rotate} button={t("rotate")} staysOpen>
      <p>{t("rotateWhy")}</p>
      <Field label={t("grace")} hint={t("graceHint")}>
        <select name="grace">
          <option value="0">{t("grace0")}</option>
          <option value="1">{t("grace1")}</option>
          <option value="24" selected>
            {t("grace24")}
          </option>
          <option value="168">{t("grace168")}</option>
        </select>
      </Field>
    </FormDialog>
  );
}

const HOURS = [1, 6, 24, 168] as const;

/** Sends many messages again. Those that were not delivered are chosen first if there are any. */
export function ResendAll({ of: { id, given_up }, reload }: CommandProps) {
  const { run, retry, error, isRunning } = useAction();
  const [resent, setResent] = useState<ResentMessages | null>(null);
  const resend = async (event: SubmitEvent) => {
    const { hours = "" } = formValues(event);
    const body: ResendAllBody = { hours: hours === "" ? null : Number(hours) };
    await run(async () => setResent(await send<ResentMessages>(id, "resend-all", body)));
    reload();
  };
  return (
    <>
      <form class="actions webhook-resend" onSubmit={(event) => void resend(event)}>
        <label>
          {t("resendWhich")}{" "}
          <select name="hours">
            {given_up > 0 && <option value="">{t("resendGivenUp", { count: given_up })}</option>}
            {HOURS.map((hours) => (
              <option key={hours} value={hours}>
                {t(`resend${hours}`)}
              </option>
            ))}
          </select>
        </label>
        <button type="submit" disabled={isRunning}>
          {t("resendAll")}
        </button>
      </form>
      <p role="status" class="quiet">
        {resent !== null && t("resentCount", { count: resent.count })}
        {resent !== null && resent.left > 0 && ` ${t("resentLeft", { count: resent.left })}`}
      </p>
      {error !== undefined && <Problem error={error} retry={retry} />}
    </>
  );
}
