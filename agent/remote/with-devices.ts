import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isNode, isScalar, isSeq, parseDocument, stringify, visit, type YAMLMap } from "yaml";
import type { DeviceConfig } from "../config/values/schema.ts";

// The devices of agent.yaml as the server may read and replace them.

/** Keys of a device that an admin may set at the dashboard. All others name files of this PC, and stay in agent.yaml alone. */
export const REMOTE_KEYS: readonly (keyof DeviceConfig)[] = [
  "id",
  "profile",
  "connection",
  "allow",
  "model",
  "timeZone",
  "charset",
  "ackMode",
  "codes",
  "controls",
  "matchBySampleId",
  "orders",
  "practice",
  "aeTitle",
  "callingAeTitles",
  "quietSeconds",
  "modality",
  "commitmentScp",
];

/** Formats devices for the server: no paths of files, and no comments. */
export function devicesText(devices: readonly DeviceConfig[]): string {
  const shown = devices.map((device) => Object.fromEntries(Object.entries(device).filter(([key]) => isRemote(key))));
  return stringify(shown, { lineWidth: 0 });
}

/**
 * Replaces the devices in the text of agent.yaml. Unchanged text keeps its form and its comments, and a device keeps the keys that
 * the server may not set.
 */
export function withDevices(text: string, devices: readonly DeviceConfig[]): string {
  const document = parseDocument(text);
  quoteCodes(document);
  const list = document.get("devices");
  const known = isSeq(list) ? list.items : [];
  const items = devices.map((device) => {
    const before = known.find((node): node is YAMLMap => isMap(node) && node.get("id") === device.id);
    if (before === undefined) return document.createNode(device);
    const local = Object.keys(before.toJS(document) as object).filter((key) => !isRemote(key));
    update(document, before, device, local);
    return before;
  });
  if (isSeq(list)) list.items = items;
  else document.set("devices", document.createNode(items));
  return document.toString({ lineWidth: 0 });
}

function isRemote(key: string): boolean {
  return REMOTE_KEYS.some((remote) => remote === key);
}

type Values = Readonly<Record<string, unknown>>;

/** Gives a map these values, except for the kept keys. Equal values keep their nodes, and changed ones their comments. */
function update(document: Document, map: YAMLMap, values: Values, kept: readonly string[] = []): void {
  map.items = map.items.filter(({ key }) => kept.includes(nameOf(key)) || values[nameOf(key)] !== undefined);
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined || kept.includes(name)) continue;
    const pair = map.items.find(({ key }) => nameOf(key) === name);
    if (pair === undefined) map.set(name, document.createNode(value));
    else if (isMap(pair.value) && isObject(value)) update(document, pair.value, value);
    else if (!isDeepStrictEqual(valueOf(document, pair.value), value)) {
      const comment = isNode(pair.value) ? pair.value.comment : null;
      pair.value = document.createNode(value);
      if (isNode(pair.value) && comment != null) pair.value.comment = comment;
    }
  }
}

/** Makes keys whose digits a number would lose a text: YAML would write the device's code 0413 as 413. */
function quoteCodes(document: Document.Parsed): void {
  visit(document, {
    Pair(_, { key }) {
      if (isScalar(key) && String(key.value) !== nameOf(key)) key.value = nameOf(key);
    },
  });
}

function nameOf(key: unknown): string {
  if (!isScalar(key)) return String(key);
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function valueOf(document: Document, node: unknown): unknown {
  return isNode(node) ? node.toJS(document) : node;
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
