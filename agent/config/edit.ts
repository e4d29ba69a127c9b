import { isMap, isScalar, isSeq, parseDocument, stringify, type YAMLSeq } from "yaml";
import type { DeviceConfig } from "./values/schema.ts";

// Edits the text of agent.yaml for the set-up. Only the changed place is written, so that the clinic's comments, order and
// spelling stay byte for byte.

export interface FirstSettings {
  readonly url: string;
  readonly keyFile: string;
  /** The public key of the server, if no authority vouches for it. */
  readonly pin?: string | undefined;
  readonly data: string;
  readonly timeZone: string;
  /** Address of the agent's page. */
  readonly listen: string;
}

/** Writes the configuration of an agent without devices. */
export function firstConfiguration({ url, keyFile, pin, data, timeZone, listen }: FirstSettings): string {
  return [
    `# The agent of this PC. Its page at http://${listen} changes this file and keeps its comments.`,
    stringify({ server: { url, keyFile, ...(pin !== undefined && { pin }) } }).trimEnd(),
    "# Messages, studies and images of this PC.",
    stringify({ data }).trimEnd(),
    "# Devices tell the time of this zone.",
    stringify({ timeZone }).trimEnd(),
    stringify({ status: { listen } }).trimEnd(),
    "devices: []",
    "",
  ].join("\n");
}

/** Returns the text with one more device at the end of its list. @throws Error if it has no list of devices */
export function withDevice(text: string, device: DeviceConfig): string {
  const { list, isInBlock } = devicesOf(text);
  const [start, end] = rangeOf(list);
  const last = list.items.at(-1);
  if (list.flow === true) {
    const flow = JSON.stringify(device);
    if (last !== undefined) return inserted(text, rangeOf(last)[1], `, ${flow}`);
    if (!isInBlock || text.slice(start, end) !== "[]") return inserted(text, start + 1, flow);
    // The brackets give way to a list in lines, as people write it.
    const before = text.slice(0, start).replace(/ $/, "");
    return asLines(before + text.slice(end), before.length, 2, device);
  }
  if (last === undefined) throw new Error(NO_LIST);
  return asLines(text, rangeOf(last)[1], start - lineStart(text, start), device);
}

interface ServerPlace {
  readonly url: string;
  /** Undefined for none. */
  readonly pin: string | undefined;
  /** Whether the key file in the text is the pairing's. */
  readonly isOurs: (keyFile: string) => boolean;
}

/** Returns the text with another address and pin of the server. @returns null if they are these, or if the key is another one */
export function withServer(text: string, { url, pin, isOurs }: ServerPlace): string | null {
  const { contents } = parseDocument(text);
  const server = isMap(contents) ? contents.get("server") : undefined;
  const address = isMap(server) ? server.get("url", true) : undefined;
  if (!isMap(server) || !isScalar(address) || !isOurs(String(server.get("keyFile")))) return null;
  const before = server.toJSON() as { readonly url?: unknown; readonly pin?: unknown };
  if (before.url === url && before.pin === pin) return null;
  const known = server.items.find(({ key }) => isScalar(key) && key.value === "pin");
  const [start, end] = rangeOf(address);
  const edits = [{ from: start, to: end, by: JSON.stringify(url) }];
  if (known !== undefined) {
    const [from, to] = rangeOf(known.value);
    edits.push(pin === undefined ? cut(text, rangeOf(known.key)[0], to) : { from, to, by: JSON.stringify(pin) });
  } else if (pin !== undefined) {
    const place = rangeOf(server)[0];
    const divider = server.flow === true ? ", " : newlineOf(text) + " ".repeat(place - lineStart(text, place));
    edits.push({ from: end, to: end, by: `${divider}pin: ${JSON.stringify(pin)}` });
  }
  edits.sort((one, other) => other.from - one.from);
  return edits.reduce((edited, { from, to, by }) => edited.slice(0, from) + by + edited.slice(to), text);
}

/** Removes a value with what divides it from the next one or from the one before: a comma, or the end of a line. */
function cut(text: string, from: number, to: number) {
  const after = /^[ \t]*,[ \t]*/.exec(text.slice(to))?.[0].length ?? 0;
  const before = after > 0 ? 0 : (/(,|\r?\n)?[ \t\r\n]*$/.exec(text.slice(0, from))?.[0].length ?? 0);
  return { from: from - before, to: to + after, by: "" };
}

/** Returns the text with another profile of a device. @throws Error if the text has no such device */
export function withProfile(text: string, id: string, profile: string): string {
  const device = devicesOf(text).list.items.find((item) => isMap(item) && item.get("id") === id);
  const value = isMap(device) ? device.get("profile", true) : undefined;
  if (!isScalar(value)) throw new Error(`agent.yaml has no device ${id} with a profile: load it again`);
  const [start, end] = rangeOf(value);
  return text.slice(0, start) + (text[start] === '"' ? JSON.stringify(profile) : profile) + text.slice(end);
}

const NO_LIST = 'devices is not a list: write "devices: []" in agent.yaml first';

function devicesOf(text: string): { list: YAMLSeq; isInBlock: boolean } {
  const { contents } = parseDocument(text);
  const list = isMap(contents) ? contents.get("devices") : undefined;
  if (!isMap(contents) || !isSeq(list)) throw new Error(NO_LIST);
  return { list, isInBlock: contents.flow !== true };
}

/** @returns where the value of a parsed node starts and ends in the text */
function rangeOf(node: unknown): readonly [number, number] {
  const { range } = node as { readonly range?: readonly [number, number, number] | null };
  if (range == null) throw new Error("expected a node of a parsed text");
  return [range[0], range[1]];
}

function inserted(text: string, at: number, added: string): string {
  return text.slice(0, at) + added + text.slice(at);
}

/** Inserts a device as lines after the line of a position. Its dash is in the column `indent`. */
function asLines(text: string, at: number, indent: number, device: DeviceConfig): string {
  const newline = newlineOf(text);
  const isLineEnd = at > 0 && text[at - 1] === "\n";
  const next = isLineEnd ? at : text.indexOf("\n", at) + 1;
  const lines = stringify([device]).trimEnd().split("\n");
  const block = lines.map((line) => " ".repeat(indent) + line).join(newline);
  return next === 0 ? text + newline + block + newline : inserted(text, next, block + newline);
}

function newlineOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}
