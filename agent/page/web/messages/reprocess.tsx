import { useSignal } from "@preact/signals";
import type { LocalReprocessing } from "../../types/messages.ts";
import { call } from "../../../../server/web/api.ts";
import { Loaded, Problem, useLocalOnce } from "../../../../server/web/resource.tsx";
import { DiffLines } from "../../../../server/web/ui/list/diff-lines.tsx";
import { useAction } from "../../../../server/web/ui/form/use-action.ts";
import { CloseButton, Dialog } from "../../../../server/web/ui/form-dialog/dialog.tsx";
import { t } from "./texts.ts";

/** Shows what a message would become now. It is stored only after the user saw it. */
export function Reprocess({ id, close, stored }: { id: string; close: () => void; stored: () => Promise<void> }) {
  const path = `/messages/${encodeURIComponent(id)}/reprocessing`;
  const reprocessing = useLocalOnce<LocalReprocessing>(path);
  const { run, error, isRunning } = useAction();
  const isStored = useSignal(false);
  const store = (seen: LocalReprocessing) =>
    run(async () => {
      await call("POST", path, seen);
      isStored.value = true;
      await stored();
    });
  return (
    <Dialog title={t("reprocessTitle")} close={close} foot={<CloseButton />}>
      <p>{t("reprocessWhy")}</p>
      {isStored.value ? (
        <p role="status">{t("reprocessed")}</p>
      ) : (
        <Loaded of={reprocessing}>
          {(seen) => (
            <>
              {error !== undefined && <Problem error={error} retry={reprocessing.reload} />}
              {seen.diff.length === 0 ? (
                <p>{t("noChange")}</p>
              ) : (
                <>
                  <p>{t("wouldChange")}</p>
                  <DiffLines lines={seen.diff} label={t("reprocessTitle")} />
                  <button type="button" class="primary" disabled={isRunning} onClick={() => void store(seen)}>
                    {t("store")}
                  </button>
                </>
              )}
            </>
          )}
        </Loaded>
      )}
    </Dialog>
  );
}
