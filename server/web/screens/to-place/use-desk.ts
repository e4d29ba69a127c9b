import { useEffect, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type {
  AssignBody,
  Placed,
  PlacementPreview,
  PlacementQueue,
  QueueOrder,
  RejectBody,
  ReopenBody,
  ShownPatient,
  StudyToPlace,
} from "../../../../shared/dashboard/to-place.ts";
import { call } from "../../api.ts";
import { useResource } from "../../resource.tsx";
import { clinicPath } from "../../session.ts";
import { useAction } from "../../ui/use-action.ts";

/** The last placement of this page, for its undo. */
interface LastPlacement {
  readonly fp: string;
  readonly revision: number;
  /** The patient's name; null for a rejection. */
  readonly name: string | null;
}

export type Desk = ReturnType<typeof useDesk>;

/** The state of the desk: the queue, the selected study, the chosen patient with its preview, and the commands. */
export function useDesk() {
  const { route } = useLocation();
  const { params } = useRoute();
  const [isRejected, setRejected] = useState(false);
  const [order, setOrder] = useState<QueueOrder>("oldest");
  const queue = useResource<PlacementQueue>(`/to-place?order=${order}${isRejected ? "&rejected=1" : ""}`);
  const studies = queue.data?.studies ?? [];
  const fp = params["fp"] ?? studies[0]?.fp;
  const study = useResource<StudyToPlace>(fp === undefined ? null : `/to-place/${encodeURIComponent(fp)}`);
  const [chosen, choose] = useState<ShownPatient | undefined>(undefined);
  const path = fp === undefined || chosen === undefined ? null : `/to-place/${fp}/preview/${chosen.fp}`;
  const preview = useResource<PlacementPreview>(path);
  const [last, setLast] = useState<LastPlacement | undefined>(undefined);
  const action = useAction();
  useEffect(() => choose(undefined), [fp]);

  const select = (wanted: string | undefined) =>
    route(wanted === undefined ? "/dashboard/to-place" : `/dashboard/to-place/${wanted}`);

  function move(step: 1 | -1): void {
    const index = studies.findIndex((each) => each.fp === fp);
    const next = studies[index < 0 ? 0 : index + step];
    if (next !== undefined) select(next.fp);
  }

  /** Sends a command on a study, and then does the rest. After a refusal the study is read anew, because it may have changed. */
  function send(of: string, name: string, body: AssignBody | RejectBody | ReopenBody, then: (placed: Placed) => void) {
    return action.run(async () => {
      try {
        then(await call<Placed>("POST", `${clinicPath()}/to-place/${of}/${name}`, body));
      } finally {
        await Promise.all([queue.reload(), study.reload()]);
      }
    });
  }

  /** Selects the study after the placed one, and offers the undo. */
  function goOn(placed: string, { revision }: Placed, name: string | null): void {
    const index = studies.findIndex((each) => each.fp === placed);
    const next = studies[index + 1] ?? studies[index - 1];
    setLast({ fp: placed, revision, name });
    select(next?.fp === placed ? undefined : next?.fp);
  }

  const shown = study.data?.fp === fp ? study.data : undefined;
  return {
    queue,
    isRejected,
    /** Shows the waiting or the rejected studies, the first one of them selected. */
    showRejected: (wanted: boolean) => {
      setRejected(wanted);
      select(undefined);
    },
    order,
    setOrder,
    fp,
    study: { ...study, data: shown },
    chosen,
    choose,
    preview: { ...preview, data: preview.data?.patient.fp === chosen?.fp ? preview.data : undefined },
    last,
    action,
    move,
    assign: async (patient: ShownPatient, typed?: string) => {
      if (shown === undefined) return false;
      const body = { revision: shown.revision, patient_fp: patient.fp, ...(typed && { typed_species: typed }) };
      return send(shown.fp, "assign", body, (placed) => goOn(shown.fp, placed, patient.name));
    },
    reject: async (reason: string) => {
      if (shown === undefined) return false;
      return send(shown.fp, "reject", { revision: shown.revision, reason }, (placed) => goOn(shown.fp, placed, null));
    },
    /** Takes the selected study back to the queue, or the last placed one if the selected one waits. */
    undo: async () => {
      const undone = shown?.can_undo === true ? shown : last;
      if (undone === undefined) return false;
      return send(undone.fp, "reopen", { revision: undone.revision }, () => {
        setLast(undefined);
        setRejected(false);
        select(undone.fp);
      });
    },
  };
}
