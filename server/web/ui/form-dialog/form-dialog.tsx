import type { ComponentChildren } from "preact";
import type { RequestError } from "../../api.ts";
import { Problem } from "../../resource.tsx";
import { translations } from "../../text.ts";
import { formValues } from "../form/form.ts";
import { useAction } from "../form/use-action.ts";
import { CloseButton, Dialog, type DialogProps } from "./dialog.tsx";

interface FormDialogProps extends Omit<DialogProps, "children"> {
  /** Called with the text of the fields. */
  readonly act: (fields: Record<string, string>) => Promise<unknown>;
  /** Label of the button that submits the form. It names the action. */
  readonly button: string;
  readonly isDangerous?: boolean;
  /** Whether the form can be submitted. */
  readonly isReady?: boolean;
  /** Whether the dialog stays open after the action. `act` then closes it or shows more. */
  readonly staysOpen?: boolean;
  /** Sentences for errors of these codes, instead of the server's. */
  readonly sentences?: Readonly<Record<string, string>>;
  /** Label of the button that closes the dialog. */
  readonly leave?: string;
  /** The fields; a function receives the error of the last attempt. */
  readonly children?: ComponentChildren | ((error: RequestError | undefined) => ComponentChildren);
}

/** Asks before one action, with the fields that it needs. It closes after the action, and shows the error of a failed one. */
export function FormDialog({
  title,
  close,
  act,
  button,
  isDangerous = false,
  isReady = true,
  staysOpen = false,
  sentences = {},
  leave = t("cancel"),
  children,
}: FormDialogProps) {
  const { run, error, isRunning } = useAction();
  const submit = (event: SubmitEvent) => {
    const dialog = (event.currentTarget as HTMLFormElement).closest("dialog");
    const fields = formValues(event);
    // Browsers return the focus if the dialog closes before it is removed.
    void run(() => act(fields)).then((isDone) => isDone && !staysOpen && dialog?.close());
  };
  const sentence = error && sentences[error.code];
  const foot = (
    <>
      <CloseButton>{leave}</CloseButton>
      <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isRunning || !isReady}>
        {button}
      </button>
    </>
  );
  return (
    <Dialog title={title} close={close} submit={submit} foot={foot}>
      {typeof children === "function" ? children(error) : children}
      {sentence !== undefined && (
        <p class="fault" role="alert">
          {sentence}
        </p>
      )}
      {error !== undefined && sentence === undefined && <Problem error={error} />}
    </Dialog>
  );
}

const t = translations({
  cancel: ["Cancel", "Vazgeç"],
});
