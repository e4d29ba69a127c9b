import os from "node:os";
import { reasonOf } from "../../shared/api/reason.ts";
import { firstFault, isNoWay } from "../../shared/network/connection-fault.ts";
import {
  type LineCode,
  type LineReason,
  lineAdvice,
  OF_REPLIES,
  OWN_HOLDER,
} from "../../shared/network/line-reasons.ts";
import { holdersOfFile, holdersOfPort } from "../../shared/network/port-holder.ts";
import { type Advised, advisedText } from "../../shared/runtime/advised.ts";

// The state of the line to a device. A fault has a code with values, and words with their remedy.

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

export interface LineFault extends Advised, LineReason {
  readonly is: "cannot open" | "cannot listen" | "cannot connect";
  /** The fault and its remedy as one sentence. */
  readonly reason: string;
  /** The cause may be a device that is switched off, so that no user has to act. */
  readonly mayBeOff: boolean;
}

/** `why` has a code and the values of its words. */
function lineFault(is: LineFault["is"], why: LineReason, mayBeOff = false): LineFault {
  const told = lineAdvice(why) ?? { fault: why.code, remedy: null };
  return { is, ...why, ...told, reason: advisedText(told), mayBeOff };
}

/** Names the second connection, for replies, in its fault. */
export function ofReplies({ is, code, values, mayBeOff }: LineFault): LineFault {
  return lineFault(is, reasonOf(OF_REPLIES, code, ...values), mayBeOff);
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

/** Explains why the device's own profile cannot be used. */
export function profileFault(
  profile: string,
  { code, problems }: { readonly code: Extract<LineCode, `PROFILE.${string}`>; readonly problems: readonly string[] },
): LineFault {
  return lineFault("cannot open", reasonOf(code, profile, problems[0] ?? ""));
}

type SerialCode = Extract<LineCode, `PORT.${string}`>;

/** Explains why a serial port cannot be opened. `message` is the error of the driver. */
export function serialFault(path: string, message: string, platform: NodeJS.Platform = process.platform): LineFault {
  const code = serialCode(message, platform);
  return lineFault("cannot open", reasonOf(code, path, ...serialValues(code, path, message)));
}

/** The driver of serial ports reports its faults in words alone, so this table reads them. */
function serialCode(message: string, platform: NodeJS.Platform): SerialCode {
  if (/no such (file|device)|file not found/i.test(message)) return "PORT.MISSING";
  if (/permission denied/i.test(message)) return "PORT.FORBIDDEN";
  // Windows denies access to a port that another program has open.
  const isDenied = platform === "win32" && /access denied/i.test(message);
  if (isDenied || /lock port|busy/i.test(message)) return "PORT.IN_USE";
  return /inappropriate ioctl|is a directory/i.test(message) ? "PORT.NOT_SERIAL" : "PORT.FAULT";
}

/** The values in addition to the path. */
function serialValues(code: SerialCode, path: string, message: string): string[] {
  switch (code) {
    case "PORT.FORBIDDEN":
      return [os.userInfo().username];
    case "PORT.IN_USE":
      return holdersOfFile(path, OWN_HOLDER);
    case "PORT.FAULT":
      return [message];
    case "PORT.MISSING":
    case "PORT.NOT_SERIAL":
      return [];
  }
}

/** Explains why a watched folder cannot be read. */
export function folderFault(path: string, { code, message }: NodeJS.ErrnoException): LineFault {
  switch (code) {
    case "ENOENT":
      return lineFault("cannot open", reasonOf("FOLDER.MISSING", path));
    case "ENOTDIR":
      return lineFault("cannot open", reasonOf("FOLDER.NOT_ONE", path));
    case "EACCES":
    case "EPERM":
      return lineFault("cannot open", reasonOf("FOLDER.FORBIDDEN", path, os.userInfo().username));
    default:
      return lineFault("cannot open", reasonOf("FOLDER.FAULT", path, message));
  }
}

/** Explains why a port cannot be listened on. */
export function listenFault(host: string, port: number, error: NodeJS.ErrnoException): LineFault {
  return lineFault("cannot listen", listenReason(host, String(port), error));
}

function listenReason(host: string, port: string, { code, message }: NodeJS.ErrnoException): LineReason {
  switch (code) {
    case "EADDRINUSE":
      return reasonOf("LISTEN.IN_USE", port, ...holdersOfPort(Number(port), OWN_HOLDER));
    case "EADDRNOTAVAIL":
      return reasonOf("LISTEN.NOT_OWN", host, ownAddresses().join(", "));
    case "EACCES":
      if (process.platform === "win32") return reasonOf("LISTEN.RESERVED", port);
      return reasonOf("LISTEN.FORBIDDEN", port, os.userInfo().username);
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return reasonOf("LISTEN.UNKNOWN_HOST", host);
    default:
      return reasonOf("LISTEN.FAULT", `${host}:${port}`, message);
  }
}

function ownAddresses(): string[] {
  const addresses = Object.values(os.networkInterfaces()).flatMap((of) => of ?? []);
  return addresses.filter(({ family }) => family === "IPv4").map(({ address }) => address);
}

/** Explains why a device cannot be dialled. `reached` is true if TCP connected and TLS failed. */
export function dialFault(host: string, port: number, error: NodeJS.ErrnoException, reached: boolean): LineFault {
  const place = `${host}:${port}`;
  if (reached) return lineFault("cannot connect", tlsReason(place, error));
  return lineFault("cannot connect", dialReason(host, String(port), firstFault(error)), true);
}

function dialReason(host: string, port: string, { code = "", message }: NodeJS.ErrnoException): LineReason {
  const place = `${host}:${port}`;
  if (isNoWay(code)) return reasonOf("DIAL.NO_ROUTE", host);
  switch (code) {
    case "ECONNREFUSED":
      return reasonOf("DIAL.REFUSED", place, port);
    case "ETIMEDOUT":
      return reasonOf("DIAL.TIMED_OUT", place, host);
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return reasonOf("DIAL.UNKNOWN_HOST", host);
    default:
      return reasonOf("DIAL.FAULT", place, message);
  }
}

function tlsReason(place: string, { code = "", message }: NodeJS.ErrnoException): LineReason {
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|ECONNRESET/.test(code)) return reasonOf("TLS.NOT_SPOKEN", place);
  return reasonOf(/CERT|SIGNATURE/.test(code) ? "TLS.UNTRUSTED" : "TLS.FAULT", place, message);
}
