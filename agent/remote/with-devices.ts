import { isDeepStrictEqual } from "node:util";
import { isMap, isSeq, type Node, parseDocument, stringify, type YAMLMap } from "yaml";
import { textKeys } from "../config/check.ts";
import type { DeviceConfig } from "../config/schema.ts";

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
  "matchBySampleId",
  "aeTitle",
  "callingAeTitles",
  "quietSeconds",
  "modality",
  "commitmentScp",
];

/** Formats devices for the server: no paths of files, and no comments. */
export function devicesText(devices: readonly DeviceConfig[]): string {
  const shown = devices.map((device) =>
    Object.fromEntries(Object.entries(device).filter(([key]) => REMOTE_KEYS.some((remote) => remote === key))),
  );
  return stringify(shown, { lineWidth: 0 });
}

/**
 * Replaces the devices in the text of agent.yaml. What did not change keeps its form and its comments, and a device keeps those of
 * its keys that the server may not set.
 */
export function withDevices(text: string, devices: readonly DeviceConfig[]): string {
  const document = parseDocument(text);
  textKeys(document);
  const list = document.get("devices");
  const known = isSeq(list) ? list.items : [];
  const items = devices.map((device) => {
    const before = known.find((node): node is YAMLMap => isMap(node) && node.get("id") === device.id);
    if (before === undefined) return document.createNode(device) as Node;
    for (const key of REMOTE_KEYS) {
      if (device[key] === undefined) before.delete(key);
      else if (!isDeepStrictEqual(before.toJS(document)[key], device[key]))
        before.set(key, document.createNode(device[key]));
    }
    return before;
  });
  if (isSeq(list)) list.items = items;
  else document.set("devices", document.createNode(items));
  return document.toString({ lineWidth: 0 });
}
