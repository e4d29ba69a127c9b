import { escaped } from "../roles.ts";

// The pattern of a line of a report, from the line that a person chose. Its named groups are the places that get roles afterwards.

const BETWEEN = /\s{2,}|\t+|\s*[;|]\s*/;

/** Returns the pattern of a line of a result. Its parts are `c1`, `c2` and so on; a part that is a number stays one. */
export function resultPattern(line: string): string {
  const text = line.trim();
  const wide = text.split(BETWEEN);
  const [between, parts] = wide.length > 1 ? [wideSeparator(text), wide] : [String.raw`\s+`, text.split(/\s+/)];
  const groups = parts.map((part, index) => `(?<c${index + 1}>${shapeOf(part, wide.length > 1)})`);
  return String.raw`^\s*${groups.join(between)}\s*$`;
}

function wideSeparator(text: string): string {
  const sign = /[;|]/.exec(text)?.[0];
  return sign === undefined ? String.raw`\s+` : String.raw`\s*${escaped(sign)}\s*`;
}

/** A result has a number where the chosen line has one, so that the pattern takes no line of another kind. */
function shapeOf(part: string, mayHaveBlanks: boolean): string {
  if (/^[<>]?=?\s*[-+]?\d+([.,]\d+)?$/.test(part)) return String.raw`[<>]?=?\s*[-+]?\d+(?:[.,]\d+)?`;
  return mayHaveBlanks ? String.raw`\S+(?: \S+)*?` : String.raw`\S+`;
}

/** Returns the pattern of a line of the sample: a label and its text, `Patient ID: 4711`. */
export function samplePattern(line: string, taken: readonly string[]): string {
  const [, label = "", sign = ""] = /^\s*([^:=]{1,60}?)\s*([:=])/.exec(line) ?? [];
  if (label === "") return String.raw`^\s*(?<${groupName("line", taken)}>.*?)\s*$`;
  const words = label.split(/\s+/).map(escaped).join(String.raw`\s+`);
  return String.raw`^\s*${words}\s*${sign}\s*(?<${groupName(label, taken)}>.*?)\s*$`;
}

/** Returns the pattern of a line that means nothing: its text, with any digits. */
export function fillerPattern(line: string): string {
  const words = line
    .trim()
    .split(/\s+/)
    .map((word) => escaped(word).replaceAll(/\d+/g, String.raw`\d+`));
  return String.raw`^\s*${words.join(String.raw`\s+`)}\s*$`;
}

/** Makes a name for a group. A group of the same name in another line would be the same text. */
function groupName(label: string, taken: readonly string[]): string {
  const ascii = label.normalize("NFD").toLowerCase().replaceAll("ı", "i");
  const name =
    ascii
      .replaceAll(/[^a-z0-9]+/g, "_")
      .replaceAll(/^[^a-z]+|_+$/g, "")
      .slice(0, 24) || "line";
  for (let number = 1; ; number += 1) {
    const wanted = number === 1 ? name : `${name}_${number}`;
    if (!taken.includes(wanted)) return wanted;
  }
}
