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
  /** The last response for this patient and kind of study. Its values may be older than the typed ones. */
  readonly latest: ManualPreview | undefined;
  readonly error: RequestError | undefined;
  /** Sends the request again after an error. */
  readonly retry: () => Promise<unknown>;
  /** The preview of this row at this position; undefined until the response arrives. */
  readonly of: (row: TypedRow, index: number) => PreviewRow | undefined;
  /** Sends the request immediately. */
  readonly ask: () => Promise<ManualPreview | undefined>;
}

/** Requests ranges, flags and errors during typing. Late responses to older requests are discarded. */
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

  const retry = () =>
    ask().catch((failed: unknown) => {
      if (!(failed instanceof RequestError)) throw failed;
      setError(failed);
    });

  useEffect(() => {
    const timer = setTimeout(() => void retry(), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);

  const isOfStudy = study !== null && answer !== undefined && headOf(study) === headOf(answer.asked);
  const { patient_fp, modality } = answer?.asked ?? {};
  const isLatest = study?.patient_fp === patient_fp && study?.modality === modality;
  return {
    latest: isLatest ? answer?.preview : undefined,
    error,
    retry,
    of(row, index) {
      const isOfRow = isOfStudy && JSON.stringify(answer.asked.results[index]) === JSON.stringify(row);
      return isOfRow ? answer.preview.rows[index] : undefined;
    },
    ask,
  };
}

/** The input that ranges depend on, except the row. */
function headOf({ results: _results, ...head }: TypedStudy): string {
  return JSON.stringify(head);
}
