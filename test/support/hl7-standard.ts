import { createRequire } from "node:module";

// The parser of another hand, with types. It is right for messages of CR-ended segments with the standard delimiters, no
// escapes and no `&`: that far it checks ours.

interface OtherMessage {
  transform(): void;
  /** "PID.3", "PID.3.1": null where nothing is. */
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
