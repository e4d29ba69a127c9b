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
 * Typed text that is not stored yet, by user and record. It outlives the screen: a session may end, or the network, while
 * somebody writes. It ends with the page, which asks before that.
 */
const kept = new Map<string, { base: RecordDetail; typed: Texts }>();
window.addEventListener("beforeunload", (event) => {
  if (kept.size > 0) event.preventDefault();
});

/**
 * The text that a user types into a record, beside the stored one. A save sends the changed fields and the version that they
 * changed. If another user changed the record first, `conflict` is the stored record, and the typed text stays.
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

  // News from the server never replaces typed text.
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

  /** Saves after the saves before it. @returns whether nothing is left to save */
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
    /** Why the last save failed, other than a conflict. */
    error: conflict.value === null ? error : undefined,
    conflict: conflict.value,
    /** The version that the user sees if nothing is unsaved. */
    version: () => base.value.version,
    save,
    /** Saves the typed text over the one of another user. */
    keepMine: async (): Promise<boolean> => {
      if (conflict.value === null) return true;
      const mine = Object.fromEntries(unsaved().map((name) => [name, typed.value[name]]));
      base.value = conflict.value;
      typed.value = { ...textsOf(conflict.value), ...mine };
      return save();
    },
    /** Drops the typed text. */
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

/** The value that the server stores for a typed text: null for a blank one. */
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
