import { analyteByCode } from "../../shared/clinical/analytes/analytes.ts";
import { nearAnalytes } from "../../shared/clinical/analytes/near-analytes.ts";
import type { MakerClick, MakerRow, MessageView, Proposal } from "../page/types/maker.ts";
import { printProfile } from "../devices/table/document.ts";
import { readProfileText } from "../devices/table/load.ts";
import type { Profile } from "../devices/profile.ts";
import type { ReadContext } from "../report/report.ts";
import { type Draft, formOf, PATCHES_MAX, withPatch } from "./draft.ts";
import { type ProposalFacts, proposals } from "./proposals.ts";
import { analytePatch, patchOf } from "./roles.ts";
import { analyteName, viewOf } from "./rows.ts";
import { messageTree } from "./tree.ts";

// A draft as a person sees it after each click: the profile's text, what it reads, what else the messages suggest.

export interface Look {
  readonly draft: Draft;
  /** Clicks that the draft cannot take. */
  readonly refused: number;
  readonly text: string;
  readonly problems: readonly string[];
  readonly views: readonly MessageView[];
  readonly proposals: readonly Proposal[];
}

export interface ShownMessage {
  readonly bytes: Uint8Array;
  readonly context: ReadContext;
}

/** Carries out clicks, then reads the messages with the draft. */
export function look(
  draft: Draft,
  messages: readonly ShownMessage[],
  clicks: readonly MakerClick[],
  facts: ProposalFacts = {},
): Look {
  const seen = messages.map(({ bytes, context }) => {
    return { bytes, context, tree: messageTree(bytes, draft.base.protocol === "astm" ? "astm" : "hl7") };
  });
  const trees = seen.map(({ tree }) => tree);
  const made = clicks.reduce(
    ({ of, refused }, click) => {
      const patch = of.patches.length >= PATCHES_MAX ? null : patchOfClick(of, click, trees);
      return patch === null ? { of, refused: refused + 1 } : { of: withPatch(of, patch), refused };
    },
    { of: draft, refused: 0 },
  );
  const read = compiled(made.of);
  const common = { draft: made.of, refused: made.refused, text: read.text };
  const { profile } = read;
  if (profile === null) return { ...common, problems: read.problems, views: [], proposals: [] };
  const form = formOf(made.of);
  const shown = seen.flatMap(({ bytes, context, tree }) => {
    return tree === null ? [] : [{ tree, view: withSuggestions(viewOf(bytes, tree, { form, profile, context })) }];
  });
  const [first] = messages;
  const found = first === undefined ? [] : proposals(shown, { form, profile, context: first.context }, facts);
  return { ...common, problems: [], views: shown.map(({ view }) => view), proposals: found };
}

/** Checks the text of a draft. `profile`: null with problems. */
export function compiled(draft: Draft): {
  readonly text: string;
  readonly problems: readonly string[];
  readonly profile: Profile | null;
} {
  const text = printProfile(formOf(draft));
  const read = readProfileText(text, draft.base.profile);
  return "problems" in read
    ? { text, problems: read.problems.map(({ message }) => message), profile: null }
    : { text, problems: [], profile: read.profile };
}

function patchOfClick(draft: Draft, click: MakerClick, trees: readonly ReturnType<typeof messageTree>[]) {
  if ("device" in click) {
    const { name, modality } = click.device;
    return {
      device: { ...(name.trim() === "" ? {} : { name: name.trim() }), ...(modality === null ? {} : { modality }) },
    };
  }
  const record = trees[click.message]?.children[click.record];
  if (record === undefined) return null;
  const form = formOf(draft);
  if ("role" in click) return patchOf(form, { ...click, record });
  if (analyteByCode(click.analyte) === undefined) return null;
  return analytePatch(form, record, click.analyte);
}

/** Max rows with suggestions. They compare a code with every name of the catalogue, and a person maps codes one by one. */
const SUGGESTED_ROWS_MAX = 40;

function withSuggestions(view: MessageView): MessageView {
  let left = SUGGESTED_ROWS_MAX;
  const rows = view.rows.map((row): MakerRow => {
    const { result } = row;
    if (result === null || result.analyte !== null || left === 0) return row;
    left -= 1;
    const suggestions = nearAnalytes([result.code, result.label ?? ""]).flatMap((code) => {
      const name = analyteName(code);
      return name === null ? [] : [{ code, name }];
    });
    return { ...row, suggestions };
  });
  return { ...view, rows };
}
