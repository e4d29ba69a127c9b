import { suggest } from "./sniff.ts";

// Recognises by their beginning what bytes are that came to the wrong port. Only what is sure is named.

/** Of `agent sniff`'s scores: what has the marks of a protocol, though its end may not have come. */
const SCORE_MIN = 55;

/** Protocols that nobody profiles, by their first bytes. */
const STRANGERS: readonly (readonly [RegExp, string])[] = [
  [/^\x16\x03[\x00-\x04]/, "TLS, which this port does not speak"],
  [/^(GET|POST|HEAD|PUT|OPTIONS) \//, "HTTP"],
  // PS3.8 §9.3.2: A-ASSOCIATE-RQ, protocol version 1.
  [/^\x01\x00[^]{4}\x00\x01\x00\x00/, "DICOM"],
];

/** @returns the protocol's name, null if the bytes prove none */
export function protocolOf(head: Uint8Array): string | null {
  const text = String.fromCharCode(...head);
  const stranger = STRANGERS.find(([beginning]) => beginning.test(text));
  if (stranger !== undefined) return stranger[1];
  const [best] = suggest([{ line: null, bytes: head }]);
  return best !== undefined && best.score >= SCORE_MIN ? best.protocol : null;
}
