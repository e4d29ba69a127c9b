import { useEffect, useRef, useState } from "preact/hooks";
import { clinicPath, session } from "../../session.ts";
import { type Draft, filledRows, newEntryId } from "./draft.ts";

interface Kept {
  readonly draft: Draft;
  /** Stays with the draft, so that a repeated request stores nothing. */
  readonly entryId: string;
}

/**
 * Typed values that are not stored yet, by user and clinic. They outlive the screen: a session may end while somebody types.
 * They end with the page, which asks before that.
 */
const kept = new Map<string, Kept>();
window.addEventListener("beforeunload", (event) => {
  if (kept.size > 0) event.preventDefault();
});

/** The draft that the user left with typed values, or else an empty one. */
export function useKeptDraft(empty: () => Draft) {
  const user = session.value?.state === "signed in" ? session.value.user.id : "";
  const { current: key } = useRef(`${user} ${clinicPath()}`);
  const [draft, setDraft] = useState(() => kept.get(key)?.draft ?? empty());
  const { current: entryId } = useRef(kept.get(key)?.entryId ?? newEntryId());
  useEffect(() => {
    const isTyped = Object.values(draft.rows).some((rows) => filledRows(rows).length > 0);
    if (isTyped) kept.set(key, { draft, entryId });
    else kept.delete(key);
  }, [draft]);
  return {
    draft,
    entryId,
    change: (changed: Partial<Draft>) => setDraft((before) => ({ ...before, ...changed })),
    /** Forgets the draft after it is stored. */
    forget: () => kept.delete(key),
  };
}
