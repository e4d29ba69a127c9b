import { useEffect, useRef, useState } from "preact/hooks";
import type { ManualPreview, PreviewRow, TypedRow, TypedStudy } from "../../../dashboard/types/results/manual-study.ts";
import { call, RequestError } from "../../api.ts";
import { clinicPath } from "../../session.ts";

/** Pause in the typing before a request. */
const PAUSE_MS = 200;

interface Answer {
  readonly asked: TypedStudy;
  readonly preview: ManualPreview;
}

export interface Preview {
  /** The last response about this animal and this kind of study. It may be about an older text. */
  readonly latest: ManualPreview | undefined;
  readonly error: RequestError | undefined;
  /** The server's response about this very row at this place; undefined until it comes. */
  readonly of: (row: TypedRow, index: number) => PreviewRow | undefined;
  /** Sends the request immediately. */
  readonly ask: () => Promise<ManualPreview | undefined>;
}

/** Requests ranges, flags and faults while the user types. A response to an older text is dropped. */
export function usePreview(study: TypedStudy | null): Preview {
  const [answer, setAnswer] = useState<Answer | undefined>(undefined);
  const [error, setError] = useState<RequestError | undefined>(undefined);
  const asked = useRef(0);
  const text = JSON.stringify(study);

  async function ask(): Promise<ManualPreview | undefined> {
    if (study === null) return undefined;
    asked.current += 1;
    const number = asked.current;
    const preview = await call<ManualPreview>("POST", `${clinicPath()}/manual-study/preview`, study);
    if (number !== asked.current) return preview;
    setAnswer({ asked: study, preview });
    setError(undefined);
    return preview;
  }

  useEffect(() => {
    const timer = setTimeout(() => {
      ask().catch((failed: unknown) => {
        if (!(failed instanceof RequestError)) throw failed;
        setError(failed);
      });
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);

  const isOfStudy = study !== null && answer !== undefined && headOf(study) === headOf(answer.asked);
  const { patient_fp, modality } = answer?.asked ?? {};
  const isLatest = study?.patient_fp === patient_fp && study?.modality === modality;
  return {
    latest: isLatest ? answer?.preview : undefined,
    error,
    of(row, index) {
      const isOfRow = isOfStudy && JSON.stringify(answer.asked.results[index]) === JSON.stringify(row);
      return isOfRow ? answer.preview.rows[index] : undefined;
    },
    ask,
  };
}

/** Everything that the ranges depend on, except the row. */
function headOf({ results: _results, ...head }: TypedStudy): string {
  return JSON.stringify(head);
}
