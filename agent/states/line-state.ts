import { type Advised, advisedText } from "../../shared/runtime/advised.ts";
import os from "node:os";
import { firstFault, isNoWay } from "../../shared/network/connection-fault.ts";
import { portFault } from "../../shared/files/rights-advice.ts";
import { holderOfFile, holderOfPort } from "../../shared/network/port-holder.ts";

// The state of the line to a device, in words. A fault has its remedy.

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

export interface LineFault extends Advised {
  readonly is: "cannot open" | "cannot listen" | "cannot connect";
  /** A `SerialCode`, or the code of the system for a connection of the network. */
  readonly code: string;
  /** The fault and its remedy as one sentence. */
  readonly reason: string;
  /** The cause may be a device that is switched off, so that no user has to act. */
  readonly mayBeOff: boolean;
}

function lineFault(is: LineFault["is"], code: string, told: Advised, mayBeOff = false): LineFault {
  return { is, code, ...told, reason: advisedText(told), mayBeOff };
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

type SerialCode = "PORT.MISSING" | "PORT.FORBIDDEN" | "PORT.IN_USE" | "PORT.NOT_SERIAL" | "PORT.FAULT";

/** Explains why a serial port cannot be opened. `message` is the error of the driver. */
export function serialFault(path: string, message: string, platform: NodeJS.Platform = process.platform): LineFault {
  const code = serialCode(message, platform);
  return lineFault("cannot open", code, serialWords(code, path, message));
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

function serialWords(code: SerialCode, path: string, message: string): Advised {
  switch (code) {
    case "PORT.MISSING": {
      const remedy = 'plug its adapter in, or take a path that "agent ports" lists';
      return { fault: `no such port ${path}`, remedy };
    }
    case "PORT.FORBIDDEN": {
      const join = `sudo usermod -a -G dialout ${os.userInfo().username}`;
      return {
        fault: `no permission for ${path}`,
        remedy: `add the user to the group dialout (${join}), then sign in again`,
      };
    }
    case "PORT.IN_USE":
      return { fault: `${path} is in use by ${holderOfFile(path)}`, remedy: "close that program" };
    case "PORT.NOT_SERIAL":
      return { fault: `${path} is not a serial port`, remedy: 'take a path that "agent ports" lists' };
    case "PORT.FAULT":
      return { fault: `${path}: ${message}`, remedy: null };
  }
}

/** Explains why a port cannot be listened on. */
export function listenFault(host: string, port: number, error: NodeJS.ErrnoException): LineFault {
  return lineFault("cannot listen", error.code ?? "", listenWords(host, port, error));
}

function listenWords(host: string, port: number, { code, message }: NodeJS.ErrnoException): Advised {
  switch (code) {
    case "EADDRINUSE": {
      const remedy = "end that program, or choose another port";
      return { fault: `port ${port} is in use by ${holderOfPort(port)}`, remedy };
    }
    case "EADDRNOTAVAIL": {
      const fault = `${host} is not an address of this machine, which has ${ownAddresses().join(", ")}`;
      return { fault, remedy: "take one of them, or 0.0.0.0 for all" };
    }
    case "EACCES":
      return portFault(port, "agent");
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return { fault: `unknown host name ${host}`, remedy: "take an address of this machine, or 0.0.0.0 for all" };
    default:
      return { fault: `${host}:${port}: ${message}`, remedy: null };
  }
}

function ownAddresses(): string[] {
  const addresses = Object.values(os.networkInterfaces()).flatMap((of) => of ?? []);
  return addresses.filter(({ family }) => family === "IPv4").map(({ address }) => address);
}

/** Explains why a device cannot be dialled. `reached` is true if TCP connected and TLS failed. */
export function dialFault(host: string, port: number, error: NodeJS.ErrnoException, reached: boolean): LineFault {
  const place = `${host}:${port}`;
  if (reached) return lineFault("cannot connect", error.code ?? "", tlsWords(place, error));
  const first = firstFault(error);
  return lineFault("cannot connect", first.code ?? "", dialWords(host, port, first), true);
}

function dialWords(host: string, port: number, { code = "", message }: NodeJS.ErrnoException): Advised {
  const place = `${host}:${port}`;
  if (isNoWay(code)) {
    const remedy = "switch the device on, and look whether it is in the network of this machine";
    return { fault: `no route to ${host}`, remedy };
  }
  switch (code) {
    case "ECONNREFUSED":
      return { fault: `refused by ${place}`, remedy: `switch the device on, and compare its port with ${port}` };
    case "ETIMEDOUT": {
      const remedy = `switch the device on, and compare its address with ${host}`;
      return { fault: `timed out, no answer from ${place}`, remedy };
    }
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return { fault: `unknown host name ${host}`, remedy: "take the device's address in its place" };
    default:
      return { fault: `${place}: ${message}`, remedy: null };
  }
}

function tlsWords(place: string, { code = "", message }: NodeJS.ErrnoException): Advised {
  const failed = `TLS with ${place} failed`;
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|ECONNRESET/.test(code)) {
    const fault = `${failed}: the device does not speak TLS, or closed the connection`;
    return { fault, remedy: "compare its settings with tls" };
  }
  const fault = `${failed}: ${message}`;
  return { fault, remedy: /CERT|SIGNATURE/.test(code) ? "name in tls.ca who signed the device's certificate" : null };
}
