import { allProfiles, profileById } from "../../../devices/index.ts";
import { shippedForm } from "../../../devices/table/load.ts";
import { blankBase, openFile } from "../../../maker/files/open-file.ts";
import { openBytes } from "../../../maker/open.ts";
import { messageTree } from "../../../maker/tree.ts";
import { read } from "../../../study/read.ts";
import { rankSuggested } from "../../../tools/offline/rank-profiles.ts";
import type { LocalMakerOpened, MakerNode } from "../../types/maker.ts";

// The bytes that a person brings, as the messages of a draft with the profiles to begin with.

export async function opened(bytes: Uint8Array): Promise<LocalMakerOpened> {
  const { protocol, found: heard, messages } = openBytes(bytes, (of) => profileById(`generic-${of}`));
  const found = heard && { name: heard.suggestion.protocol, reasons: heard.suggestion.reasons };
  const named = heard === null ? [] : rankSuggested(heard.suggestion, heard.bytes).map(({ profile }) => profile);
  if (protocol === null) {
    const bases = named.filter((id) => profileById(id) !== undefined);
    if (bases.length === 0) return openedFiles([bytes]);
    return { protocol, found, bases, file: null, messages: [{ base64: base64Of(bytes), tree: null }] };
  }
  const likely = named.filter((id) => profileById(id)?.protocol === protocol && shippedForm(id) !== null);
  const bases = [...new Set([...likely, `generic-${protocol}`])];
  const shown = messages.map((each) => ({ base64: base64Of(each), tree: withText(messageTree(each, protocol)) }));
  return { protocol, found, bases, file: null, messages: shown };
}

/** Max files that one draft shows beside each other. */
const FILES_MAX = 5;

/** Opens files of a folder: first the profiles that read the first one, then one without any statement. */
export async function openedFiles(files: readonly Uint8Array[]): Promise<LocalMakerOpened> {
  const taken = files.slice(0, FILES_MAX);
  const shown = (await Promise.all(taken.map(openFile))).filter((each) => each !== null);
  const [first] = shown;
  if (first === undefined) {
    const messages = taken.map((bytes) => ({ base64: base64Of(bytes), tree: null }));
    return { protocol: null, found: null, bases: [], file: null, messages };
  }
  const { kind, begin } = first;
  const bases = [...profilesThatRead(first.message), blankBase(kind)];
  const messages = shown.map(({ message }) => ({ base64: base64Of(message), tree: null }));
  return { protocol: "file", found: null, bases, file: { kind, begin }, messages };
}

function profilesThatRead(message: Uint8Array): string[] {
  const context = { device: "maker", timeZone: "UTC", receivedAt: Date.now() };
  return allProfiles()
    .filter((profile) => profile.protocol === "file" && profile.content === "results")
    .filter((profile) => read(message, profile, context).is === "reports")
    .map(({ id }) => id);
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** Leaves out the parts without text, which are most of a message. The columns of a table are all there. */
export function withText(node: MakerNode | null): MakerNode | null {
  if (node === null || node.place === "header") return node;
  const children = node.children.filter(({ text }) => text !== "").map((child) => withText(child)!);
  return { ...node, children };
}
