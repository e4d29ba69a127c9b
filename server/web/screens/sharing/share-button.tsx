import { useState } from "preact/hooks";
import { refusalText } from "../../../dashboard/types/refusals.ts";
import type { StudyPage } from "../../../dashboard/types/results/results.ts";
import type { SharingState } from "../../../dashboard/types/results/sharing.ts";
import { Loaded, useResource } from "../../resource.tsx";
import { may } from "../../session.ts";
import { language } from "../../text.ts";
import { CloseButton, Dialog } from "../../ui/form-dialog/dialog.tsx";
import { ShareDialog } from "./share-dialog.tsx";
import { timesShared } from "./shared-links.tsx";
import { t } from "./texts.ts";

interface Props {
  readonly study: StudyPage;
  /** The time zone of printed times. */
  readonly zone: string;
}

/** The button above a study. If the study is not shared now, its dialog has the reason. */
export function ShareButton({ study, zone, reload }: Props & { reload: () => Promise<void> }) {
  const [isOpen, setOpen] = useState(false);
  if (!may("staff")) return null;
  const close = () => {
    setOpen(false);
    timesShared.value += 1;
    void reload();
  };
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        {t("share")}
      </button>
      {isOpen && <Opened study={study} zone={zone} close={close} />}
    </>
  );
}

function Opened({ study, zone, close }: Props & { close: () => void }) {
  const state = useResource<SharingState>(`/results/${study.fp}/sharing`);
  const { data } = state;
  if (data === undefined || data.refusal !== null) {
    return (
      <Dialog title={t("refusedTitle")} close={close} foot={<CloseButton />}>
        <Loaded of={state}>
          {({ refusal }) => <p>{refusal === null ? "" : refusalText(refusal, language.value)}</p>}
        </Loaded>
      </Dialog>
    );
  }
  return <ShareDialog study={study} zone={zone} state={data} close={close} />;
}
