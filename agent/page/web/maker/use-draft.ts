import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type {
  LocalMakerLook,
  LocalMakerOpened,
  MakerClick,
  MakerLook,
  MakerNode,
  MakerSource,
} from "../../types/maker.ts";
import { call } from "../../../../server/web/api.ts";
import { useAction } from "../../../../server/web/ui/form/use-action.ts";

// The draft of this tab. It is kept over a reload, and ends with the tab.

/** The state by which a reload shows the draft again. */
interface Kept {
  readonly source: MakerSource;
  readonly base: string;
  readonly patches: MakerLook["patches"];
  /** The device whose bytes these are; null for a paste or a file. */
  readonly device: string | null;
  /** The newest revisions of the own profiles when the draft began. */
  readonly own: readonly string[];
}

const KEY = "maker";

export interface OpenDraft extends Kept {
  readonly opened: LocalMakerOpened;
  readonly look: LocalMakerLook;
}

/** A chosen part of a message. */
export interface Chosen {
  readonly message: number;
  readonly record: number;
  readonly node: MakerNode;
}

/** The subject in the page's address: the bytes of a message or a device that was not understood. */
export interface Asked {
  readonly source: MakerSource;
  readonly device: string | null;
}

/** @param asked null for the draft of the tab; its bytes are another draft's unless that draft was made of them */
export function useDraft(asked: Asked | null, own: readonly string[]) {
  const draft = useSignal<OpenDraft | null>(null);
  const { run, error, retry, isRunning } = useAction();
  // A click waits for the one before, and a save for the last one.
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const next = (action: () => Promise<unknown>) => {
    const ended = last.current.then(() => run(action));
    last.current = ended.catch(() => undefined);
    return ended;
  };

  const show = async (kept: Kept, opened: LocalMakerOpened, clicks: readonly MakerClick[]) => {
    const { base, patches } = kept;
    const messages = opened.messages.map(({ base64 }) => base64);
    const look = await call<LocalMakerLook>("POST", "/maker/look", { base, patches, messages, clicks });
    draft.value = { ...kept, patches: look.patches, opened, look };
    keep({ ...kept, patches: look.patches });
  };

  /** Opens bytes with the best profile. */
  const start = async (source: MakerSource, device: string | null) => {
    const opened = await open(source);
    const [first] = opened.bases;
    const kept = { source, base: first ?? "", patches: beginOf(first, opened), device, own };
    if (first !== undefined) return show(kept, opened, []);
    draft.value = { ...kept, opened, look: NOTHING };
  };

  useEffect(() => {
    const kept = keptDraft();
    const isAsked = asked === null || JSON.stringify(asked.source) === JSON.stringify(kept?.source);
    if (kept !== null && isAsked) void run(async () => show(kept, await open(kept.source), []));
    else if (asked !== null) void run(() => start(asked.source, asked.device));
  }, []);

  return {
    draft: draft.value,
    ...{ error, retry, isRunning },
    start: (source: MakerSource, device: string | null) => run(() => start(source, device)),
    click: (clicks: readonly MakerClick[]) =>
      next(async () => {
        if (draft.value !== null) await show(draft.value, draft.value.opened, clicks);
      }),
    undo: () =>
      next(async () => {
        const { value } = draft;
        if (value !== null) await show({ ...value, patches: value.patches.slice(0, -1) }, value.opened, []);
      }),
    rebase: (base: string) =>
      next(async () => {
        const { value } = draft;
        if (value !== null) await show({ ...value, base, patches: beginOf(base, value.opened) }, value.opened, []);
      }),
    /** Returns the draft after the clicks that are on their way. */
    settled: async () => {
      await last.current;
      return draft.value;
    },
    /** Notes a stored revision, which the next save follows. */
    stored: (reference: string) => {
      if (draft.value === null || !reference.startsWith("own/")) return;
      draft.value = { ...draft.value, own: [reference, ...draft.value.own] };
      keep(draft.value);
    },
    end: () => {
      draft.value = null;
      keep(null);
    },
  };
}

/** A profile of a file without a base begins with what the file shows: where its header is. */
function beginOf(base: string | undefined, { file }: LocalMakerOpened): MakerLook["patches"] {
  return file !== null && base === `new-file/${file.kind}` ? [file.begin] : [];
}

/** Returns the number of patches that no click made. */
export function begun({ base, opened }: OpenDraft): number {
  return beginOf(base, opened).length;
}

const NOTHING: LocalMakerLook = {
  ...{
    patches: [],
    refused: 0,
    text: "",
    problems: [],
    device: { name: null, modality: null },
    views: [],
    proposals: [],
    trees: null,
    open: [],
    isFixed: false,
  },
};

function open(source: MakerSource): Promise<LocalMakerOpened> {
  return call<LocalMakerOpened>("POST", "/maker/open", source);
}

/** The storage of the tab: another tab has a draft of its own, and a closed one leaves nothing of a patient behind. */
function keep(kept: Kept | null): void {
  try {
    if (kept === null) return sessionStorage.removeItem(KEY);
    const { source, base, patches, device, own } = kept;
    sessionStorage.setItem(KEY, JSON.stringify({ source, base, patches, device, own }));
  } catch {
    // A browser that blocks site data, or bytes beyond its limit: the draft ends with a reload.
  }
}

function keptDraft(): Kept | null {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null") as Kept | null;
  } catch {
    return null;
  }
}
