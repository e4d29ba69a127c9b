import { useEffect, useState } from "preact/hooks";
import { FRAMES_HEADER, PICTURE_SIDES } from "../../types/images.ts";
import { loadFile, RequestError } from "../../../../server/web/api.ts";

interface Picture {
  /** Address of the picture; null while the agent draws it, or without one. */
  readonly url: string | null;
  /** Frames of the image; 1 until a picture of it arrives. */
  readonly frames: number;
  /** Why there is no picture. */
  readonly error: RequestError | null;
}

const NONE: Picture = { url: null, frames: 1, error: null };

/** Loads the picture of a frame once it is wanted. The agent stops drawing when the picture is no longer shown. */
export function usePicture(id: string, side: keyof typeof PICTURE_SIDES, frame: number, isWanted: boolean): Picture {
  const [picture, setPicture] = useState(NONE);
  useEffect(() => {
    if (!isWanted) return undefined;
    const shown = new AbortController();
    let url: string | null = null;
    const load = async () => {
      try {
        const query = new URLSearchParams({ frame: String(frame), side: String(PICTURE_SIDES[side]) });
        const answer = await loadFile(`/images/${encodeURIComponent(id)}/preview?${query}`, shown.signal);
        const frames = Number(answer.headers.get(FRAMES_HEADER) ?? 1);
        const bytes = await answer.blob();
        if (shown.signal.aborted) return;
        url = URL.createObjectURL(bytes);
        setPicture({ url, frames, error: null });
      } catch (error) {
        if (shown.signal.aborted) return;
        const known = error instanceof RequestError ? error : new RequestError(String(error), 0, "OFFLINE", null);
        setPicture(({ frames }) => ({ url: null, frames, error: known }));
      }
    };
    void load();
    return () => {
      shown.abort();
      if (url !== null) URL.revokeObjectURL(url);
      setPicture(({ frames }) => ({ ...NONE, frames }));
    };
  }, [id, side, frame, isWanted]);
  return picture;
}
