import type { DeviceConfig } from "../../config/values/schema.ts";
import { suggest } from "../../devices/detection/detect.ts";
import { profilesOfSender } from "../../devices/detection/protocol-marks.ts";
import { profileById } from "../../devices/index.ts";
import type { StoredDeviceState } from "../../states/device-state.ts";
import { isForeign } from "../../states/noise-state.ts";
import { parseAddress } from "../../transport/address.ts";
import { isLoopback } from "../../../shared/network/network-address.ts";
import { spoolCheck } from "../check/check.ts";
import { type DeviceFacts, readDeviceFacts } from "../check/device-facts.ts";
import type { Finding } from "../../page/types/doctor.ts";
import { ok, problem, warning } from "../check/finding.ts";

// Each device by what the agent has heard from it: its line, strangers, the fit of its profile, its silence.

const DAY_MS = 86_400_000;
/** Silence of a device that is reported. The server knows its rhythm, and reports a shorter one. */
const SILENCE_MS = 14 * DAY_MS;
/** Messages or results below which a share is chance. */
const SHARE_MIN = 4;
/** Line faults below which they may come from switching the device on. */
const FAULTS_MIN = 10;

export const devices = spoolCheck("devices", "Devices", (db, config, { isAgentRunning }) =>
  config.devices.flatMap((device) => {
    const facts = readDeviceFacts(db, device.id);
    const found = [
      ...(isAgentRunning ? lineFindings(device, facts) : []),
      ...strangers(device, facts),
      ...noise(device, facts),
      ...fit(device, facts),
      ...silence(device, facts),
    ];
    return found.length > 0 ? found : [ok("devices.heard", `${device.id} sends, and its profile fits`)];
  }),
);

/** The agent's own view of the line, which it holds. */
function lineFindings({ id }: DeviceConfig, { state }: DeviceFacts): Finding[] {
  if (state === null) {
    const remedy = "restart the agent, so that it reads agent.yaml again";
    return [warning("devices.not-served", `the running agent does not know ${id}`, remedy)];
  }
  const faults = lineFaults(id, state);
  if (state.reason === null) return faults;
  const { fault = state.reason, remedy } = state;
  const make = state.mayBeOff ? warning : problem;
  const general = `compare the connection of ${id} in agent.yaml`;
  return [make("devices.line", `${id} ${state.is}: ${fault}`, remedy ?? general), ...faults];
}

function lineFaults(id: string, { counters, lastWarning }: StoredDeviceState): Finding[] {
  if (counters.warnings < FAULTS_MIN || counters.warnings < counters.messages) return [];
  const last = lastWarning === null ? "" : `, the last: ${lastWarning.reason}`;
  const remedy = "check the cable and its plugs, then compare baud rate, parity and profile with the device's settings";
  const sentence = `${id} has ${counters.warnings} faults of its line`;
  // The last fault may quote the device.
  return [{ ...warning("devices.faults", `${sentence}${last}`, remedy), forSupport: sentence }];
}

function strangers({ id }: DeviceConfig, { state }: DeviceFacts): Finding[] {
  return (state?.refused ?? []).map(({ address, count }) => {
    const sentence = `${id} refused ${address} ${count} times, which allow lacks`;
    return warning(
      "devices.refused",
      sentence,
      `if that is the device, add ${address} to allow of ${id} in agent.yaml`,
    );
  });
}

/** Bytes that belong to no message: the device speaks another protocol, or at another speed. */
function noise({ id, profile }: DeviceConfig, { state, lastMessageAt }: DeviceFacts): Finding[] {
  const heard = state?.noise;
  if (heard === undefined || !isForeign(heard, lastMessageAt)) return [];
  const bytes = Uint8Array.from(heard.sample.split(" "), (byte) => Number.parseInt(byte, 16));
  const [best] = suggest([{ line: null, bytes }]);
  const fitting = best?.profiles.filter((name) => name !== profile) ?? [];
  const said = `${id} received ${heard.bytes} bytes that belong to no message`;
  if (heard.protocol === null || fitting.length === 0) {
    const remedy =
      "compare baud rate, parity and profile with the device's settings, or run agent sniff while it sends";
    return [warning("devices.noise", `${said}${heard.protocol === null ? "" : `: ${heard.protocol}`}`, remedy)];
  }
  const sentence = `${said}: they look like ${heard.protocol}, not like ${profile}`;
  return [
    warning("devices.other-protocol", sentence, `write profile: ${fitting.join(" or ")} for ${id} in agent.yaml`),
  ];
}

/** The profile fits if it reads the messages, the device is the one it names, and it knows the codes. */
function fit(device: DeviceConfig, facts: DeviceFacts): Finding[] {
  const { id, profile } = device;
  const { messages, results } = facts;
  const other = otherModel(device, facts);
  if (other !== null) return [other];
  if (messages.quarantined >= SHARE_MIN && messages.quarantined * 2 > messages.count) {
    const sentence = `${messages.quarantined} of the last ${messages.count} messages of ${id} are unreadable with the profile ${profile}`;
    const remedy = `compare the profile with the model, or run agent sniff; then agent reprocess --state quarantined --device ${id}`;
    return [warning("devices.unreadable", sentence, remedy)];
  }
  if (results.unknown === 0) return [];
  const isMost = results.count >= SHARE_MIN && results.unknown * 2 > results.count;
  const sentence = `${results.unknown} of the last ${results.count} results of ${id} have codes that the catalogue lacks`;
  const map = "map the codes in the dashboard under To place, Unknown codes: agent codes lists them";
  const remedy = isMost ? `compare the profile ${profile} with the model, or ${map}` : map;
  return [warning("devices.unknown-codes", sentence, remedy)];
}

/** The sender in the latest message names another profile. A generic profile reads every sender. */
function otherModel({ id, profile: name }: DeviceConfig, { sender }: DeviceFacts): Finding | null {
  const profile = profileById(name);
  if (sender === null || (profile?.protocol !== "astm" && profile?.protocol !== "hl7")) return null;
  const fitting = profilesOfSender(profile.protocol, sender);
  const isRead = profile.sender?.test(sender) ?? true;
  if (isRead && (fitting.length === 0 || !name.startsWith("generic"))) return null;
  const advice = fitting.length === 0 ? `generic-${profile.protocol}` : fitting.join(" or ");
  const sentence =
    fitting.length === 0
      ? `${id} is another model than its profile ${name} reads`
      : `${id} looks like ${advice}, and has the profile ${name}`;
  const remedy = `write profile: ${advice} for ${id} in agent.yaml, restart the agent, then agent reprocess --device ${id} --state quarantined --state filed`;
  return warning("devices.other-model", sentence, remedy);
}

function silence(device: DeviceConfig, { lastMessageAt, state }: DeviceFacts): Finding[] {
  const { id } = device;
  if (lastMessageAt !== null) {
    const days = Math.floor((Date.now() - lastMessageAt) / DAY_MS);
    if (days * DAY_MS < SILENCE_MS) return [];
    const remedy = "if the device is in use, look whether its sending to the computer (LIS, HIS, host) is on";
    return [warning("devices.silent", `${id} has sent nothing for ${days} days`, remedy)];
  }
  // Bytes without a message have a finding of their own.
  if (state?.noise !== undefined) return [];
  return [warning("devices.never-heard", `no message of ${id} has ever arrived`, firstMessageRemedy(device))];
}

function firstMessageRemedy({ id, profile: name, connection: { serial, listen, dial, folder } }: DeviceConfig): string {
  if (folder !== undefined) {
    const profile = profileById(name);
    const kinds = profile?.protocol === "file" ? profile.link.extensions.join(", ") : "";
    const isList = profile?.protocol === "file" && profile.content === "registry";
    const source = isList ? "the practice software export a list" : "the program of the device export a result";
    return `let ${source} into ${folder}, as a file of the kinds ${kinds}`;
  }
  if (serial !== undefined) {
    return `press send on the device; if nothing comes, compare its cable (null modem?) and baud rate, or run agent sniff --connection serial:${serial.path}`;
  }
  if (dial !== undefined) return `press send on the device, and look whether it waits for a host at ${dial}`;
  const address = parseAddress(listen ?? "");
  if (address !== null && isLoopback(address.host)) {
    return `${id} listens on ${listen} alone, which no other machine reaches: write listen: 0.0.0.0:${address.port} with allow`;
  }
  const port = address?.port ?? 0;
  return `set this machine's address and port ${port} at the device, press send, and let the firewall of this machine accept port ${port}`;
}
