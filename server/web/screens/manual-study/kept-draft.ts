import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { clinicPath, session } from "../../session.ts";
import { newId } from "../../write-ids.ts";
import { type Draft, filledRows } from "./draft.ts";

interface Kept {
  readonly draft: Draft;
  /** The id of the study, kept with the draft so that a repeated request stores it once. */
  readonly entryId: string;
}

/**
 * Unsaved values by user and clinic. They outlive the screen, because a session may expire while the user types. Closing the
 * page discards them after a warning.
 */
const kept = new Map<string, Kept>();
window.addEventListener("beforeunload", (event) => {
  if (kept.size > 0) event.preventDefault();
});

/** Returns the user's unsaved draft; an empty one if there is none. */
export function useKeptDraft(empty: () => Draft) {
  const user = session.value?.state === "signed in" ? session.value.user.id : "";
  const { current: key } = useRef(`${user} ${clinicPath()}`);
  const [draft, setDraft] = useState(() => kept.get(key)?.draft ?? empty());
  const { current: entryId } = useRef(kept.get(key)?.entryId ?? newId());
  // Before the next event: a click that leaves the screen may directly follow the last letter.
  useLayoutEffect(() => {
    const isTyped = Object.values(draft.rows).some((rows) => filledRows(rows).length > 0);
    if (isTyped) kept.set(key, { draft, entryId });
    else kept.delete(key);
  }, [draft]);
  return {
    draft,
    entryId,
    change: (changed: Partial<Draft>) => setDraft((before) => ({ ...before, ...changed })),
    /** Removes the draft after it is stored. */
    forget: () => kept.delete(key),
  };
}
