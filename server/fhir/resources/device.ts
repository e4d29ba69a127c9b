import type { Device } from "fhir/r4.js";
import type { Place } from "./facts.ts";
import { deviceId } from "./ids.ts";

/** Encodes an instrument by the name that its studies print. */
export function deviceResource(name: string, place: Place): Device {
  const id = deviceId(name);
  return {
    resourceType: "Device",
    id,
    identifier: [{ system: place.systemOf("device"), value: id }],
    deviceName: [{ name, type: "user-friendly-name" }],
  };
}
