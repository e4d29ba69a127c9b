import { createRequire } from "node:module";

// Types of the package hl7-standard, the oracle of the parser. It is correct only for segments that CR ends, with the standard
// delimiters and without escapes and `&`.

interface OtherMessage {
  transform(): void;
  /** @param path "PID.3", "PID.3.1" @returns null for an empty field */
  get(path: string): unknown;
  getSegments(name: string): readonly OtherSegment[];
}

interface OtherSegment {
  get(path: string): unknown;
}

const Other = createRequire(import.meta.url)("hl7-standard") as new (text: string) => OtherMessage;

export function parseByOther(text: string): OtherMessage {
  const message = new Other(text);
  message.transform();
  return message;
}
