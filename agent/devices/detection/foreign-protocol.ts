import { suggest } from "./detect.ts";

// Names the protocol of bytes that arrived at the wrong port. Without certainty no protocol is named.

/** Min score of a suggestion: the marks of a protocol without their end. */
const SCORE_MIN = 55;

/** Protocols without a profile. NUL and line ends before the others are missing, because they are not counted as noise. */
const FOREIGN: readonly (readonly [(text: string) => boolean, string])[] = [
  // RFC 8446 §5.1: handshake record.
  [(text) => text.startsWith("\x16\x03"), "TLS, which is off for this port"],
  [(text) => /^(GET|POST|HEAD|PUT|OPTIONS) \//.test(text), "HTTP"],
];

/** Returns the name of the protocol, null for unknown bytes. @param head first bytes of the noise */
export function protocolOf(head: Uint8Array): string | null {
  const text = String.fromCharCode(...head);
  const foreign = FOREIGN.find(([matches]) => matches(text));
  if (foreign !== undefined) return foreign[1];
  const [best] = suggest([{ line: null, bytes: head }]);
  return best !== undefined && best.score >= SCORE_MIN ? best.protocol : null;
}
