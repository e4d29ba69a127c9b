import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { nearAnalytes } from "../../../shared/clinical/analytes/near-analytes.ts";
import type { MakerClick, MakerNode, MakerRow, MessageView, OpenPoint, Proposal } from "../../page/types/maker.ts";
import type { AnyProfileForm } from "../../devices/table/file.ts";
import { printProfile } from "../../devices/table/document.ts";
import { readProfileText } from "../../devices/table/load.ts";
import type { ProfileForm } from "../../devices/table/schema.ts";
import type { Profile } from "../../devices/profile.ts";
import type { ReadContext } from "../../report/report.ts";
import { type Draft, formOf, type Patch, PATCHES_MAX, withPatch } from "../draft.ts";
import { type ProposalFacts, proposals } from "./proposals.ts";
import { analytePatch, patchOf } from "../roles.ts";
import { analyteName, viewOf } from "../rows.ts";
import { isTreeProtocol, messageTree } from "../tree.ts";
import { filePatch } from "../files/file-roles.ts";
import { stillOpen } from "../files/open-file.ts";
import { layoutTree } from "../files/text-tree.ts";
import { delivered, fileTree } from "../files/tree.ts";
import { fileView, roleNodes } from "../files/view.ts";

// A draft as a person sees it after each click: the profile's text, what it reads, what else the messages suggest.

export interface Look<Form extends AnyProfileForm = ProfileForm> {
  readonly draft: Draft<Form>;
  /** Clicks that the draft cannot take. */
  readonly refused: number;
  readonly text: string;
  readonly problems: readonly string[];
  readonly views: readonly MessageView[];
  readonly proposals: readonly Proposal[];
  /** Trees that depend on the draft; null for messages whose tree does not. */
  readonly trees: readonly (MakerNode | null)[] | null;
  readonly open: readonly OpenPoint[];
}

export interface ShownMessage {
  readonly bytes: Uint8Array;
  readonly context: ReadContext;
}

/** Carries out clicks, then reads the messages with the draft. */
export function look<Form extends AnyProfileForm>(
  draft: Draft<Form>,
  messages: readonly ShownMessage[],
  clicks: readonly MakerClick[],
  facts: ProposalFacts = {},
): Look<Form> {
  const made = clicks.reduce(
    ({ of, refused }, click) => {
      const patch = of.patches.length >= PATCHES_MAX ? null : patchOfClick(of, click, messages);
      return patch === null ? { of, refused: refused + 1 } : { of: withPatch(of, patch), refused };
    },
    { of: draft, refused: 0 },
  );
  const form: AnyProfileForm = formOf(made.of);
  const trees = messages.map(({ bytes }) => treeOf(bytes, form));
  const open = form.protocol === "file" ? stillOpen(form) : [];
  const { text, problems, profile } = compiled(made.of);
  const common = {
    draft: made.of,
    refused: made.refused,
    text,
    open,
    trees: isTreeProtocol(form.protocol) ? null : trees,
  };
  if (profile === null || open.length > 0) {
    // A field that is still open would be a fault of the form, too.
    return { ...common, problems: open.length > 0 ? [] : problems, views: openViews(trees, form), proposals: [] };
  }
  const shown = messages.flatMap(({ bytes, context }, index) => {
    const tree = trees[index] ?? null;
    if (tree === null) return [];
    const view = viewOfAny(bytes, tree, form, profile, context);
    return [{ tree, view: withSuggestions(view) }];
  });
  const [first] = messages;
  const found =
    first === undefined || form.protocol === "file" || form.protocol === "text"
      ? []
      : proposals(shown, { form, profile, context: first.context }, facts);
  return { ...common, problems: [], views: shown.map(({ view }) => view), proposals: found };
}

function viewOfAny(
  bytes: Uint8Array,
  tree: MakerNode,
  form: AnyProfileForm,
  profile: Profile,
  context: ReadContext,
): MessageView {
  if (form.protocol === "file") return fileView(bytes, tree, { form, profile, context });
  if (form.protocol === "text") return fileView(delivered(bytes, profile), tree, { form, profile, context });
  return viewOf(bytes, tree, { form, profile, context });
}

/** A file that is not read yet shows the roles that were given. */
function openViews(trees: readonly (MakerNode | null)[], form: AnyProfileForm): MessageView[] {
  if (form.protocol !== "file") return [];
  const nothing = { sample: null, reason: null, rows: [], unread: [], notes: [] };
  return trees.map((tree) => ({ ...nothing, nodes: tree === null ? [] : roleNodes(tree, form) }));
}

function treeOf(bytes: Uint8Array, form: AnyProfileForm): MakerNode | null {
  if (form.protocol === "file") return fileTree(bytes, form);
  if (form.protocol !== "text") return messageTree(bytes, form.protocol);
  const profile = profileOfForm(form);
  return profile === null ? null : layoutTree(delivered(bytes, profile), form);
}

function profileOfForm(form: ProfileForm): Profile | null {
  const read = readProfileText(printProfile(form), form.profile);
  return "problems" in read ? null : read.profile;
}

/** Checks the text of a draft. `profile`: null with problems. */
export function compiled(draft: Draft<AnyProfileForm>): {
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

function patchOfClick(
  draft: Draft<AnyProfileForm>,
  click: MakerClick,
  messages: readonly ShownMessage[],
): Patch | null {
  if ("device" in click) {
    const { name, modality } = click.device;
    return {
      device: { ...(name.trim() === "" ? {} : { name: name.trim() }), ...(modality === null ? {} : { modality }) },
    };
  }
  const form: AnyProfileForm = formOf(draft);
  const bytes = messages[click.message]?.bytes;
  const tree = bytes === undefined ? null : treeOf(bytes, form);
  const record = tree?.children[click.record];
  if (tree === null || record === undefined) return null;
  if ("role" in click) {
    return form.protocol === "file" ? filePatch(form, { ...click, record }, tree) : patchOf(form, { ...click, record });
  }
  if (analyteByCode(click.analyte) === undefined) return null;
  if (form.protocol !== "file") return analytePatch(form, record, click.analyte);
  return click.code === undefined || click.code === "" ? null : { analytes: { [click.code]: click.analyte } };
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
