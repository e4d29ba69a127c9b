import { useEffect, useState } from "preact/hooks";
import type { StudyPreview } from "../../../../dashboard/types/results/previews.ts";
import { loadFile } from "../../../api.ts";
import { clinicPath } from "../../../session.ts";
import type { Frames } from "../../../ui/picture/shown-picture.ts";
import { t } from "./preview-texts.ts";

interface ShownClip {
  /** Null for an image that is not a clip. */
  readonly frames: Frames | null;
  /** The picture of the frame; null until one is loaded, or for an image that is not a clip. */
  readonly src: string | null;
}

/** Loads the frames of a clip, one after the other, and keeps them while it is shown. */
export function useClip(fp: string, { position, frames: count }: StudyPreview): ShownClip {
  const [urls, setUrls] = useState<readonly string[]>([]);
  const [frame, setFrame] = useState(0);
  useEffect(() => {
    setFrame(0);
    if (count < 2) return undefined;
    const shown = new AbortController();
    const loaded: string[] = [];
    const load = async () => {
      for (let number = 1; number <= count; number++) {
        const path = `${clinicPath()}/results/${fp}/previews/${position}?frame=${number}`;
        const bytes = await (await loadFile(path, shown.signal)).blob();
        if (shown.signal.aborted) return;
        loaded.push(URL.createObjectURL(bytes));
        setUrls([...loaded]);
      }
    };
    // The still picture stays without the frames.
    load().catch(() => undefined);
    return () => {
      shown.abort();
      for (const url of loaded) URL.revokeObjectURL(url);
      setUrls([]);
    };
  }, [fp, position, count]);
  if (count < 2) return { frames: null, src: null };
  const frames: Frames = {
    count,
    turn: (by) => setFrame((now) => (now + by + count) % count),
    isDrawn: frame < urls.length,
    status: t("frameOf", { frame: frame + 1, frames: count }),
    previous: t("previousFrame"),
    next: t("nextFrame"),
  };
  return { frames, src: urls[frame] ?? urls.at(-1) ?? null };
}
