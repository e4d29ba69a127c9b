import os from "node:os";
import { firstFault, isNoWay } from "../../shared/network/connection-fault.ts";
import { portAdvice } from "../../shared/files/rights-advice.ts";
import { holderOfFile, holderOfPort } from "../../shared/network/port-holder.ts";

// The state of the line to a device, in words. A fault says what to do about it.

export type LineState = { readonly is: "opening" | "connecting" } | Listening | LineFault;

interface Listening {
  readonly is: "listening";
  /** Undefined if no connection was closed for another one. */
  readonly gaveWay?: GaveWay;
}

/** Silent connections that were closed because the listener had no room for a new one. */
export interface GaveWay {
  /** Number of them since the start of the agent. */
  readonly connections: number;
  /** Address of the last one. */
  readonly lastAddress: string;
}

export interface LineFault {
  readonly is: "cannot open" | "cannot listen" | "cannot connect";
  /** A sentence with the problem and what to do about it. */
  readonly reason: string;
  /** The cause may be a device that is switched off, so that no user has to act. */
  readonly mayBeOff: boolean;
}

/** Formats a fault as a sentence. */
export function faultText({ is, reason }: LineFault): string {
  return `${is}: ${reason}`;
}

/** Formats closed connections as a sentence for the log and for `status`. */
export function gaveWayText({ connections, lastAddress }: GaveWay): string {
  const what = connections === 1 ? "1 silent connection was" : `${connections} silent connections were`;
  return `${what} closed to make room for new ones, the last from ${lastAddress}: if that is not the device, keep it out with allow`;
}

/** Explains why a serial port cannot be opened. `message` is the error of the driver. */
export function serialFault(path: string, message: string, platform: NodeJS.Platform = process.platform): LineFault {
  return { is: "cannot open", reason: serialReason(path, message, platform), mayBeOff: false };
}

function serialReason(path: string, message: string, platform: NodeJS.Platform): string {
  if (/no such (file|device)|file not found/i.test(message)) {
    return `no such port ${path}: plug its adapter in, or take a path that "agent ports" lists`;
  }
  if (/permission denied/i.test(message)) {
    const join = `sudo usermod -a -G dialout ${os.userInfo().username}`;
    return `no permission for ${path}: add the user to the group dialout (${join}), then sign in again`;
  }
  // Windows denies access to a port that another program has open.
  const isDenied = platform === "win32" && /access denied/i.test(message);
  if (isDenied || /lock port|busy/i.test(message)) {
    return `${path} is in use by ${holderOfFile(path)}: close that program`;
  }
  if (/inappropriate ioctl|is a directory/i.test(message)) {
    return `${path} is not a serial port: take a path that "agent ports" lists`;
  }
  return `${path}: ${message}`;
}

/** Explains why a port cannot be listened on. */
export function listenFault(host: string, port: number, error: NodeJS.ErrnoException): LineFault {
  return { is: "cannot listen", reason: listenReason(host, port, error), mayBeOff: false };
}

function listenReason(host: string, port: number, { code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case "EADDRINUSE":
      return `port ${port} is in use by ${holderOfPort(port)}: end that program, or choose another port`;
    case "EADDRNOTAVAIL":
      return `${host} is not an address of this machine, which has ${ownAddresses().join(", ")}: take one of them, or 0.0.0.0 for all`;
    case "EACCES":
      return portAdvice(port, "agent");
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `unknown host name ${host}: take an address of this machine, or 0.0.0.0 for all`;
    default:
      return `${host}:${port}: ${message}`;
  }
}

function ownAddresses(): string[] {
  const addresses = Object.values(os.networkInterfaces()).flatMap((of) => of ?? []);
  return addresses.filter(({ family }) => family === "IPv4").map(({ address }) => address);
}

/** Explains why a device cannot be dialled. `reached` is true if TCP connected and TLS failed. */
export function dialFault(host: string, port: number, error: NodeJS.ErrnoException, reached: boolean): LineFault {
  const place = `${host}:${port}`;
  if (reached) return { is: "cannot connect", reason: tlsReason(place, error), mayBeOff: false };
  return { is: "cannot connect", reason: dialReason(host, port, error), mayBeOff: true };
}

function dialReason(host: string, port: number, error: NodeJS.ErrnoException): string {
  const place = `${host}:${port}`;
  const { code = "", message } = firstFault(error);
  if (isNoWay(code)) {
    return `no route to ${host}: switch the device on, and look whether it is in the network of this machine`;
  }
  switch (code) {
    case "ECONNREFUSED":
      return `refused by ${place}: switch the device on, and compare its port with ${port}`;
    case "ETIMEDOUT":
      return `timed out, no answer from ${place}: switch the device on, and compare its address with ${host}`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `unknown host name ${host}: take the device's address in its place`;
    default:
      return `${place}: ${message}`;
  }
}

function tlsReason(place: string, { code = "", message }: NodeJS.ErrnoException): string {
  const failed = `TLS with ${place} failed`;
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|ECONNRESET/.test(code)) {
    return `${failed}: the device does not speak TLS, or closed the connection: compare its settings with tls`;
  }
  if (/CERT|SIGNATURE/.test(code)) return `${failed}: ${message}: name in tls.ca who signed the device's certificate`;
  return `${failed}: ${message}`;
}
