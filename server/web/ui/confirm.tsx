import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Problem } from "../resource.tsx";
import { texts } from "../text.ts";
import { Dialog } from "./dialog.tsx";
import { useAction } from "./use-action.ts";

/** Asks before an action. It stays open and shows the reason if the action fails. */
export function Confirm({
  title,
  button,
  isDangerous = false,
  act,
  close,
  children,
}: {
  title: string;
  button: string;
  isDangerous?: boolean;
  act: () => Promise<unknown>;
  close: () => void;
  children: ComponentChildren;
}) {
  const { run, error, isRunning } = useAction();
  const body = useRef<HTMLDivElement>(null);
  // The browser gives the focus back if the dialog closes before it is removed.
  const end = () => body.current?.closest("dialog")?.close();
  return (
    <Dialog title={title} close={close}>
      <div ref={body}>
        {children}
        {error !== undefined && <Problem error={error} />}
        <p class="actions">
          <button
            type="button"
            class={isDangerous ? "danger" : "primary"}
            disabled={isRunning}
            onClick={() => void run(act).then((isDone) => isDone && end())}
          >
            {button}
          </button>
          <button type="button" onClick={end}>
            {t("back")}
          </button>
        </p>
      </div>
    </Dialog>
  );
}

const t = texts({ back: "Back" }, { back: "Geri" });
