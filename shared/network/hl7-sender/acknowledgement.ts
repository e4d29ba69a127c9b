import { printable } from "../../runtime/printable.ts";

// Reads of HL7 v2 what a sender needs: its own MSH, and MSA and ERR of the acknowledgement (HL7 2.5.1 §2.15.5, §2.15.8).

export interface SentHead {
  /** MSH-10. */
  readonly controlId: string;
  /** Enhanced mode: MSH-16 asks for an application acknowledgement after the commit acknowledgement. */
  readonly awaitsApplication: boolean;
}

export interface Acknowledgement {
  /** MSA-1, such as AA. */
  readonly code: string;
  /** MSA-2. */
  readonly controlId: string;
  /** MSA-3 and the texts of ERR; null without any. */
  readonly text: string | null;
}

/** Bound of the kept text. */
const TEXT_CHARS_MAX = 500;

/** Conditions of MSH-16 (table 0155) under which the receiver may send an application acknowledgement. */
const APPLICATION_CONDITIONS = ["AL", "ER", "SU"];

/** Reads the MSH of a message to send. @returns null without MSH or MSH-10, because no acknowledgement could name it */
export function readHead(message: Uint8Array): SentHead | null {
  const [msh] = segmentsOf(message);
  const controlId = msh?.[9]?.trim() ?? "";
  if (controlId === "") return null;
  return { controlId, awaitsApplication: APPLICATION_CONDITIONS.includes(msh?.[15]?.trim() ?? "") };
}

/** Reads a received message. @returns null without MSH and MSA, such as a message that is not an acknowledgement */
export function readAcknowledgement(message: Uint8Array): Acknowledgement | null {
  const segments = segmentsOf(message);
  const msa = segments.find(([name]) => name === "MSA");
  if (msa === undefined) return null;
  const errors = segments.filter(([name]) => name === "ERR").flatMap(errorTexts);
  const texts = [...new Set([msa[3] ?? "", ...errors].map(readable))].filter((text) => text !== "");
  return {
    code: (msa[1] ?? "").trim().toUpperCase(),
    controlId: (msa[2] ?? "").trim(),
    text: texts.length === 0 ? null : texts.join("; ").slice(0, TEXT_CHARS_MAX),
  };
}

/** Returns the fields of each segment, the name first; none if the message does not begin with MSH. Some put a line break before it. */
function segmentsOf(message: Uint8Array): string[][] {
  const text = textOf(message).trimStart();
  const separator = /^MSH([^\w\s])/.exec(text)?.[1];
  if (separator === undefined) return [];
  return text.split(/[\r\n]+/).map((segment) => segment.split(separator));
}

/** Reads UTF-8, else the charset of Turkish Windows, whose letters are those of Latin-1 but six. */
function textOf(message: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(message);
  } catch {
    return new TextDecoder("windows-1254").decode(message);
  }
}

/** ERR-3 code, ERR-2 place, ERR-7 and ERR-8 texts; ERR-1 of versions before 2.5 has place and code in one. */
function errorTexts(error: readonly string[]): string[] {
  const [, old = "", place = "", code = "", , , , diagnostic = "", user = ""] = error;
  if (code === "") return [old, diagnostic, user];
  return [place === "" ? code : `${code} (${place})`, diagnostic, user];
}

const ESCAPES: Readonly<Record<string, string>> = { F: "|", S: "^", T: "&", R: "~", E: "\\", ".br": " " };

/** Shows components apart, escapes as their characters, and control characters as escapes. */
function readable(field: string): string {
  const parts = field.replaceAll(/[\^&~]+/g, " ").trim();
  return printable(parts.replaceAll(/\\(F|S|T|R|E|\.br)\\/g, (_, name: string) => ESCAPES[name] ?? ""));
}
