import type { ComponentChildren } from "preact";
import { Problem } from "../resource.tsx";
import { texts } from "../text.ts";
import { formValues } from "./form.ts";
import { useAction } from "./use-action.ts";

interface ActionFormProps {
  /** Runs with the fields of the form as text. */
  readonly act: (fields: Record<string, string>, form: HTMLFormElement) => Promise<unknown>;
  /** Label of the button that submits the form. */
  readonly button: string;
  readonly isDangerous?: boolean;
  /** Whether the form can be submitted. */
  readonly isReady?: boolean;
  /** Sentences for errors of these codes, in place of the server's. */
  readonly sentences?: Readonly<Record<string, string>>;
  /** Label of the button that closes the dialog of the form. */
  readonly leave?: string;
  readonly children: ComponentChildren;
}

/** The form of a dialog: runs one action when it is submitted, and shows why it failed. */
export function ActionForm({
  act,
  button,
  isDangerous = false,
  isReady = true,
  sentences = {},
  leave = t("cancel"),
  children,
}: ActionFormProps) {
  const { run, error, isRunning } = useAction();
  const submit = (event: SubmitEvent) => {
    const form = event.currentTarget as HTMLFormElement;
    const fields = formValues(event);
    void run(() => act(fields, form));
  };
  const sentence = error && sentences[error.code];
  return (
    <form onSubmit={submit}>
      {children}
      {sentence !== undefined && (
        <p class="fault" role="alert">
          {sentence}
        </p>
      )}
      {error !== undefined && sentence === undefined && <Problem error={error} />}
      <p class="actions">
        <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isRunning || !isReady}>
          {button}
        </button>
        <button type="button" onClick={closeDialog}>
          {leave}
        </button>
      </p>
    </form>
  );
}

/** Closes the dialog of a button. */
export function closeDialog({ currentTarget }: { currentTarget: Element }): void {
  currentTarget.closest("dialog")?.close();
}

const t = texts({ cancel: "Cancel" }, { cancel: "Vazgeç" });
