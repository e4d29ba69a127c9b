import { suggest } from "./detect.ts";

// Recognises by their beginning what bytes are that came to the wrong port. Only what is sure is named.

/** Recognizes the marks of a protocol in a beginning, as the scores of `agent sniff` do. */
const SCORE_MIN = 55;

/** Protocols that nobody profiles. NUL and line ends may be missing: on most lines they are no noise. */
const STRANGERS: readonly (readonly [(text: string) => boolean, string])[] = [
  // RFC 8446 §5.1: a handshake record.
  [(text) => text.startsWith("\x16\x03"), "TLS, which is not turned on for this port"],
  [(text) => /^(GET|POST|HEAD|PUT|OPTIONS) \//.test(text), "HTTP"],
  // PS3.8 §9.3.2: A-ASSOCIATE-RQ with the DICOM application context.
  [(text) => text.startsWith("\x01") && text.includes("1.2.840.10008.3.1.1.1"), "DICOM"],
];

/** @returns the protocol's name, null if the bytes prove none */
export function protocolOf(head: Uint8Array): string | null {
  const text = String.fromCharCode(...head);
  const stranger = STRANGERS.find(([isIt]) => isIt(text));
  if (stranger !== undefined) return stranger[1];
  const [best] = suggest([{ line: null, bytes: head }]);
  return best !== undefined && best.score >= SCORE_MIN ? best.protocol : null;
}
