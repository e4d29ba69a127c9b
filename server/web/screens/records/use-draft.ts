import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { RecordContent, RecordDetail, RecordEdit } from "../../../dashboard/types/records.ts";
import { call, RequestError } from "../../api.ts";
import { clinicPath, session } from "../../session.ts";
import { useAction } from "../../ui/form/use-action.ts";

const fields = ["soap_type", "subjective", "objective", "assessment", "plan"] as const;
type FieldName = (typeof fields)[number];
type Texts = Record<FieldName, string>;

/**
 * Unsaved text by user and record. It outlives the screen, because the session may expire or the network fail while the user
 * types. Closing the page discards it after a warning.
 */
const kept = new Map<string, { base: RecordDetail; typed: Texts }>();
window.addEventListener("beforeunload", (event) => {
  if (kept.size > 0) event.preventDefault();
});

/**
 * The edited text of a record. A save sends the changed fields with the version that they are based on. If another user has
 * changed the record, `conflict` is the stored record and the edited text remains.
 */
export function useDraft(record: RecordDetail) {
  const key = `${session.value?.state === "signed in" ? session.value.user.id : ""} ${record.fp}`;
  const base = useSignal(kept.get(key)?.base ?? record);
  const typed = useSignal(kept.get(key)?.typed ?? textsOf(record));
  const conflict = useSignal<RecordDetail | null>(null);
  const { run, error, isRunning } = useAction();
  const running = useRef(Promise.resolve(true));
  const path = `${clinicPath()}/records/${record.fp}`;

  const unsaved = (): FieldName[] => fields.filter((name) => stored(name, typed.value[name]) !== base.value[name]);

  function keep(): void {
    if (unsaved().length === 0) kept.delete(key);
    else kept.set(key, { base: base.value, typed: typed.value });
  }

  function adopt(newer: RecordDetail): void {
    base.value = newer;
    typed.value = textsOf(newer);
    conflict.value = null;
    keep();
  }

  // Reloaded data does not overwrite edited text.
  useEffect(() => {
    if (unsaved().length === 0) adopt(record);
  }, [record]);

  async function send(): Promise<boolean> {
    const changed = unsaved();
    if (changed.length === 0) return true;
    const body: RecordEdit = { version: base.value.version, ...contentOf(typed.value, changed) };
    return run(async () => {
      try {
        base.value = await call<RecordDetail>("PATCH", path, body);
        conflict.value = null;
        keep();
      } catch (failed) {
        if (failed instanceof RequestError && failed.status === 409) {
          conflict.value = await call<RecordDetail>("GET", path);
        }
        throw failed;
      }
    });
  }

  /** Saves after the pending saves. @returns whether everything is saved */
  async function save(): Promise<boolean> {
    running.current = running.current.then(send, send);
    return running.current;
  }

  return {
    typed: typed.value,
    type: (name: FieldName, value: string): void => {
      typed.value = { ...typed.value, [name]: value };
      keep();
    },
    unsaved: unsaved(),
    isSaving: isRunning,
    /** The error of the last save, unless it was a conflict. */
    error: conflict.value === null ? error : undefined,
    conflict: conflict.value,
    /** The shown version, if nothing is unsaved. */
    version: () => base.value.version,
    save,
    /** Overwrites the other user's text with the edited one. */
    keepMine: async (): Promise<boolean> => {
      if (conflict.value === null) return true;
      const mine = Object.fromEntries(unsaved().map((name) => [name, typed.value[name]]));
      base.value = conflict.value;
      typed.value = { ...textsOf(conflict.value), ...mine };
      return save();
    },
    /** Discards the edited text. */
    takeTheirs: (latest: RecordDetail) => adopt(latest),
  };
}

export type Draft = ReturnType<typeof useDraft>;

function textsOf(record: RecordContent): Texts {
  const { soap_type, subjective, objective, assessment, plan } = record;
  return {
    soap_type,
    subjective: subjective ?? "",
    objective: objective ?? "",
    assessment: assessment ?? "",
    plan: plan ?? "",
  };
}

function contentOf(typed: Texts, names: readonly FieldName[]): Partial<RecordContent> {
  return Object.fromEntries(names.map((name) => [name, stored(name, typed[name])]));
}

/** The stored value of an edited text: null for a blank one. */
function stored(name: FieldName, text: string): string | null {
  if (name === "soap_type") return asType(text);
  return text.trim() === "" ? null : text;
}

/** Types of the API have capital letters, digits and underscores. */
export function asType(typed: string): string {
  return typed
    .trim()
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_");
}
