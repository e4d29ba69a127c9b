import { profileById } from "../../../agent/devices/index.ts";
import type { Profile } from "../../../agent/devices/profile.ts";

// The profiles of the release by id, with the type of their protocol.

export function astmDevice(id: string) {
  return ofProtocol(id, "astm");
}

export function hl7Device(id: string) {
  return ofProtocol(id, "hl7");
}

export function textDevice(id: string) {
  return ofProtocol(id, "text");
}

function ofProtocol<Protocol extends Profile["protocol"]>(id: string, protocol: Protocol) {
  const profile = profileById(id);
  if (profile?.protocol !== protocol) throw new Error(`${id} is no profile of ${protocol}`);
  return profile as Extract<Profile, { readonly protocol: Protocol }>;
}
