import { createLink } from "../connection/create-link.ts";
import { type Suggestion, suggest } from "../devices/detection/detect.ts";
import type { Profile } from "../devices/profile.ts";
import { splitMessages } from "../protocols/hl7/message/message.ts";
import { messageTree, type TreeProtocol } from "./tree.ts";

// The messages in bytes that a person brings: the wire's own with frames, or a text without any.

export interface OpenedBytes {
  /** Null for a protocol that the maker cannot show as a tree. */
  readonly protocol: TreeProtocol | null;
  /** The best guess about the bytes and its reasons, with the bytes that were recognised. Null if nothing is. */
  readonly found: { readonly suggestion: Suggestion; readonly bytes: Uint8Array } | null;
  readonly messages: readonly Uint8Array[];
}

/** Max messages that one draft shows beside each other. */
const MESSAGES_MAX = 5;

/** Finds the protocol, and the messages of it. `linkOf`: the general profile of a protocol, whose link reads frames. */
export function openBytes(bytes: Uint8Array, linkOf: (protocol: TreeProtocol) => Profile | undefined): OpenedBytes {
  const [found = null] = [bytes, framed(bytes)].flatMap((heard) =>
    suggest([{ line: null, bytes: heard }]).map((suggestion) => ({ suggestion, bytes: heard })),
  );
  for (const protocol of ["hl7", "astm"] as const) {
    const messages = messagesIn(bytes, protocol, linkOf(protocol)).filter(
      (each) => messageTree(each, protocol) !== null,
    );
    if (messages.length > 0) return { protocol, found, messages: messages.slice(0, MESSAGES_MAX) };
  }
  return { protocol: null, found, messages: [] };
}

const VT = 0x0b;

/** A stored message and a paste lack the frame by which HL7 is recognised. */
function framed(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.of(VT), bytes, Buffer.from("\x1c\r")]);
}

const [STX, ENQ] = [0x02, 0x05];

function messagesIn(bytes: Uint8Array, protocol: TreeProtocol, profile: Profile | undefined): Uint8Array[] {
  const isFramed = protocol === "hl7" ? bytes.includes(VT) : bytes.includes(STX) || bytes.includes(ENQ);
  if (isFramed && profile !== undefined) {
    const link = createLink(profile, { now: () => "", newId: () => "" });
    const actions = [...link.receive(bytes), ...link.close()];
    const messages = actions.flatMap((action) => (action.do === "deliver" ? [action.message] : []));
    if (messages.length > 0) return messages;
  }
  return protocol === "hl7" ? splitMessages(bytes) : splitRecords(bytes);
}

/** STX, ETX, EOT, ENQ, NAK, ETB. */
const FRAMING = [0x02, 0x03, 0x04, 0x05, 0x15, 0x17];

/** A text of ASTM: each H starts a message. The reader expects CR between the records. */
function splitRecords(bytes: Uint8Array): Uint8Array[] {
  const kept = bytes.filter((byte) => !FRAMING.includes(byte));
  const text = Buffer.from(kept).toString("latin1").replaceAll(/\r?\n/g, "\r");
  const starts = [...text.matchAll(/(?:^|\r)(?=H[^A-Za-z0-9\s]{3})/gi)].map(
    ({ index, 0: { length } }) => index + length,
  );
  return starts.map((start, index) => Buffer.from(text.slice(start, starts[index + 1]), "latin1"));
}
