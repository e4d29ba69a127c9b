import { useSignal } from "@preact/signals";
import type { LocalAdopted, LocalAdoption } from "../../types/own-profiles.ts";
import { call } from "../../../../server/web/api.ts";
import { Loaded, Problem, useLocalOnce } from "../../../../server/web/resource.tsx";
import { DiffLines } from "../../../../server/web/ui/list/diff-lines.tsx";
import { useAction } from "../../../../server/web/ui/form/use-action.ts";
import { CloseButton, Dialog } from "../../../../server/web/ui/form-dialog/dialog.tsx";
import { t } from "./texts.ts";

/** Shows what a newer revision of a device's profile changes in its stored messages. It is adopted only after a person saw that. */
export function Adopt({ device, close, adopted }: { device: string; close: () => void; adopted: () => Promise<void> }) {
  const path = `/devices/${encodeURIComponent(device)}/adoption`;
  const adoption = useLocalOnce<LocalAdoption>(path);
  const { run, error, isRunning } = useAction();
  const outcome = useSignal<LocalAdopted | null>(null);
  const adopt = ({ to, seen, mark }: LocalAdoption) =>
    run(async () => {
      outcome.value = await call<LocalAdopted>("POST", path, { to, seen, mark });
      await adopted();
    });
  return (
    <Dialog title={t("adoptTitle", { device })} close={close} foot={<CloseButton />}>
      {outcome.value !== null ? (
        <Outcome of={outcome.value} />
      ) : (
        <Loaded of={adoption}>
          {(seen) => (
            <>
              {error !== undefined && <Problem error={error} retry={adoption.reload} />}
              <Changes of={seen} />
              <button type="button" class="primary" disabled={isRunning} onClick={() => void adopt(seen)}>
                {t("adopt", { profile: seen.to })}
              </button>
            </>
          )}
        </Loaded>
      )}
    </Dialog>
  );
}

function Changes({ of }: { of: LocalAdoption }) {
  const { from, to, messages, rows, changed, split, differences } = of;
  const shown = differences.reduce((sum, { count }) => sum + count, 0);
  return (
    <>
      <p>{t("adoptWhy", { from, to })}</p>
      <p>
        <strong>{t("adoptCounts", { changed, messages })}</strong> {t("adoptRows", rows)}
      </p>
      {split > 0 && <p>{t("adoptSplit", { count: split })}</p>}
      {differences.map(({ messages: ids, count, diff }) => (
        <section key={ids[0]}>
          <p>
            {t("adoptMessages", { count })}{" "}
            {ids.map((id) => (
              <a key={id} href={`/messages/${encodeURIComponent(id)}`}>
                {id.slice(-8)}{" "}
              </a>
            ))}
          </p>
          <DiffLines lines={diff} label={t("adoptOf", { message: ids[0]?.slice(-8) ?? "" })} />
        </section>
      ))}
      {shown < changed && <p class="quiet">{t("adoptMore", { count: changed - shown })}</p>}
    </>
  );
}

function Outcome({ of }: { of: LocalAdopted }) {
  if (of.outcome === "adopted") return <p role="status">{t("adopted", { profile: of.to, count: of.changed })}</p>;
  return (
    <div class="problem" role="alert">
      <p>{t("notAdopted")}</p>
      {of.problems.map((problem) => (
        <p key={problem} lang="en">
          {problem}
        </p>
      ))}
    </div>
  );
}
