import { useEffect, useRef, useState } from "preact/hooks";
import { FRAMES_HEADER, PICTURE_SIDES } from "../../types/images.ts";
import { loadFile, RequestError } from "../../../../server/web/api.ts";

interface Picture {
  /** Address of the picture; null while the agent draws it, or without one. */
  readonly url: string | null;
  /** The frame that it shows; 0 without a picture. */
  readonly shown: number;
  /** Frames of the image; 1 until a picture of it arrives. */
  readonly frames: number;
  /** Why there is no picture. */
  readonly error: RequestError | null;
}

const NONE: Picture = { url: null, shown: 0, frames: 1, error: null };

/** Pictures that a clip keeps, so that it is drawn once while it plays. */
const KEPT_MAX = 64;

/**
 * Loads the picture of a frame once it is wanted. The frame before stays until then. The agent stops drawing when the picture is no
 * longer shown.
 */
export function usePicture(id: string, side: keyof typeof PICTURE_SIDES, frame: number, isWanted: boolean): Picture {
  const [picture, setPicture] = useState(NONE);
  const { current: drawn } = useRef(new Map<number, string>());
  useEffect(
    () => () => {
      for (const url of drawn.values()) URL.revokeObjectURL(url);
      drawn.clear();
      setPicture(NONE);
    },
    [id, side],
  );
  useEffect(() => {
    if (!isWanted) return undefined;
    const known = drawn.get(frame);
    if (known !== undefined) {
      setPicture(({ frames }) => ({ url: known, shown: frame, frames, error: null }));
      return undefined;
    }
    const shown = new AbortController();
    const load = async () => {
      try {
        const query = new URLSearchParams({ frame: String(frame), side: String(PICTURE_SIDES[side]) });
        const answer = await loadFile(`/images/${encodeURIComponent(id)}/preview?${query}`, shown.signal);
        const frames = Number(answer.headers.get(FRAMES_HEADER) ?? 1);
        const bytes = await answer.blob();
        if (shown.signal.aborted) return;
        const url = URL.createObjectURL(bytes);
        keep(drawn, frame, url);
        setPicture({ url, shown: frame, frames, error: null });
      } catch (error) {
        if (shown.signal.aborted) return;
        const fault = error instanceof RequestError ? error : new RequestError(String(error), 0, "OFFLINE", null);
        setPicture(({ frames }) => ({ url: null, shown: frame, frames, error: fault }));
      }
    };
    void load();
    return () => shown.abort();
  }, [id, side, frame, isWanted]);
  return picture;
}

/** Adds a picture, and removes the oldest one beyond the bound. */
function keep(drawn: Map<number, string>, frame: number, url: string): void {
  drawn.set(frame, url);
  const [oldest] = drawn;
  if (oldest === undefined || drawn.size <= KEPT_MAX) return;
  URL.revokeObjectURL(oldest[1]);
  drawn.delete(oldest[0]);
}
