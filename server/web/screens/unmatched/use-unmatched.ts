import { useEffect, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type {
  AssignBody,
  NewRevision,
  AssignPreview,
  UnmatchedList,
  UnmatchedOrder,
  RejectBody,
  ReopenBody,
  ShownPatient,
  UnmatchedDetails,
} from "../../../dashboard/types/results/unmatched.ts";
import { call } from "../../api.ts";
import { useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { useAction } from "../../ui/form/use-action.ts";

/** The revision of a study that a person filed or rejected. */
type Undoable = Pick<UnmatchedDetails, "fp" | "revision">;

/** The last placement on this page, for its undo. */
interface LastPlacement extends Undoable {
  /** The patient's name; null after a rejection. */
  readonly name: string | null;
}

/** The data of the screen: the queue, the selected study, and the chosen patient with its preview. */
function useShown() {
  const { route } = useLocation();
  const { params } = useRoute();
  const [isRejected, setRejected] = useState(false);
  const [order, setOrder] = useState<UnmatchedOrder>("oldest");
  const queue = useResource<UnmatchedList>(`/unmatched?order=${order}${isRejected ? "&rejected=1" : ""}`);
  const first = queue.data?.studies[0]?.fp;
  const fp = params["fp"] ?? first;
  // Puts the first study into the address, so that a change of the queue keeps it selected.
  useEffect(() => {
    if (params["fp"] === undefined && first !== undefined) route(`/dashboard/to-place/${first}`, true);
  }, [queue.data]);
  const study = useResource<UnmatchedDetails>(fp === undefined ? null : `/unmatched/${encodeURIComponent(fp)}`);
  const [choice, setChoice] = useState<{ fp: string; patient: ShownPatient } | undefined>(undefined);
  // A choice applies only to its study.
  const chosen = choice?.fp === fp ? choice?.patient : undefined;
  const path = fp === undefined || chosen === undefined ? null : `/unmatched/${fp}/preview/${chosen.fp}`;
  const preview = useResource<AssignPreview>(path);
  return {
    queue,
    isRejected,
    setRejected,
    order,
    setOrder,
    fp,
    select: (wanted: string | undefined) =>
      route(wanted === undefined ? "/dashboard/to-place" : `/dashboard/to-place/${wanted}`),
    study: { ...study, data: study.data?.fp === fp ? study.data : undefined },
    chosen,
    choose: (patient: ShownPatient | undefined) =>
      setChoice(patient === undefined || fp === undefined ? undefined : { fp, patient }),
    preview: { ...preview, data: preview.data?.patient.fp === chosen?.fp ? preview.data : undefined },
  };
}

export type Unmatched = ReturnType<typeof useUnmatched>;

/** The state of the screen and its commands. */
export function useUnmatched() {
  const shown = useShown();
  const { queue, study, fp, select, setRejected } = shown;
  const studies = queue.data?.studies ?? [];
  const [last, setLast] = useState<LastPlacement | undefined>(undefined);
  const action = useAction();

  /**
   * Sends a command on a study, then calls the rest. After a refusal it reloads the study, because another user may have
   * changed it.
   */
  async function command(
    of: string,
    name: string,
    body: AssignBody | RejectBody | ReopenBody,
    then: (placed: NewRevision) => void,
  ): Promise<void> {
    try {
      then(await call<NewRevision>("POST", `${clinicPath()}/unmatched/${of}/${name}`, body));
    } finally {
      await Promise.all([queue.reload(), study.reload()]);
    }
  }

  /** Sends a command, and keeps the reason of a refusal for the page. */
  const send = (...sent: Parameters<typeof command>) => action.run(async () => command(...sent));

  /** Selects the study after the placed one, and offers the undo. */
  function goOn(placed: string, { revision }: NewRevision, name: string | null): void {
    const index = studies.findIndex((each) => each.fp === placed);
    const next = studies[index + 1] ?? studies[index - 1];
    setLast({ fp: placed, revision, name });
    select(next?.fp === placed ? undefined : next?.fp);
  }

  const selected = studies.findIndex((each) => each.fp === fp);
  return {
    ...shown,
    last,
    action,
    hasNext: selected >= 0 && selected + 1 < studies.length,
    /** Shows the waiting or the rejected studies, and selects the first one. */
    showRejected: (wanted: boolean) => {
      setRejected(wanted);
      select(undefined);
    },
    move: (step: 1 | -1) => {
      const next = studies[selected < 0 ? 0 : selected + step];
      if (next !== undefined) select(next.fp);
    },
    /** Files the study with the previewed flags. The page has asked about the facts that it showed as contradicted. */
    assign: async ({ revision, patient, contradicted: checked }: AssignPreview, typed?: string) => {
      if (fp === undefined) return false;
      const body = { revision, patient_fp: patient.fp, checked, ...(typed && { typed_species: typed }) };
      return send(fp, "assign", body, (placed) => goOn(fp, placed, patient.name));
    },
    /** Goes on after the study was filed to a new animal. */
    filed: (placed: string, revision: number, name: string) => {
      void Promise.all([queue.reload(), study.reload()]);
      goOn(placed, { revision }, name);
    },
    /** Rejects the revision for which the user gave the reason. */
    reject: ({ fp: rejected, revision }: UnmatchedDetails, reason: string) =>
      command(rejected, "reject", { revision, reason }, (placed) => goOn(rejected, placed, null)),
    /** Returns a study to the queue: the selected one if a person filed or rejected it, or else the study placed last. */
    undo: async (undone: Undoable | undefined = study.data?.can_undo === true ? study.data : last) => {
      if (undone === undefined) return false;
      return send(undone.fp, "reopen", { revision: undone.revision }, () => {
        setLast(undefined);
        setRejected(false);
        select(undone.fp);
      });
    },
  };
}
