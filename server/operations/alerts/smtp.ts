import { isNoWay, isUnreachedCode } from "../../../shared/network/connection-fault.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { isLoopback } from "../../../shared/network/network-address.ts";
import { printable } from "../../../shared/runtime/printable.ts";
import type { Delivery } from "./book.ts";
import type { Mail } from "./email-text.ts";

// E-mail over SMTP. Beyond this machine the connection is encrypted, or nothing is sent.

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte (smtps). Otherwise STARTTLS. */
  readonly isTls: boolean;
  /** Null if the server needs no name. */
  readonly user: string | null;
}

export interface SmtpSettings extends SmtpServer {
  readonly from: string;
  /** Reads the password for each e-mail, so that a changed one needs no restart. @throws Error if its file cannot be read */
  readonly password: () => string;
}

/** Sends an e-mail. Never rejects. */
export type SendMail = (mail: Mail) => Promise<Delivery>;

const CONNECT_MS = 10_000;
const ANSWER_MS = 15_000;
const SAID_CHARS_MAX = 200;

/** One address, without a name and without characters that end a header. */
const ADDRESS = /^[^\s@<>(),;:"\\\p{Cc}]{1,64}@[^\s@<>(),;:"\\\p{Cc}]{1,190}$/u;

export function isMailAddress(text: string): boolean {
  return ADDRESS.test(text);
}

/** Reads `smtp://user@host:587` or `smtps://user@host`. @returns a sentence about what is wrong with another text */
export function readSmtpUrl(text: string): SmtpServer | string {
  if (!URL.canParse(text)) return `is "${text}", expected such as smtp://user@mail.example.com:587`;
  const url = new URL(text);
  if (url.protocol !== "smtp:" && url.protocol !== "smtps:") {
    return `starts with ${url.protocol}//, expected smtp:// (STARTTLS) or smtps://`;
  }
  if (url.password !== "") return "holds a password: put the password into a file of its own";
  if (url.hostname === "" || !/^\/?$/.test(url.pathname) || url.search !== "") {
    return `is "${text}", expected such as smtp://user@mail.example.com:587`;
  }
  const isTls = url.protocol === "smtps:";
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || (isTls ? 465 : 587)),
    isTls,
    user: url.username === "" ? null : decodeURIComponent(url.username),
  };
}

export function createMailer({ host, port, isTls, user, from, password }: SmtpSettings): SendMail {
  return async ({ to, subject, text }) => {
    try {
      // Loaded when needed: a server without a mail server saves its memory.
      const { createTransport } = await import("nodemailer");
      const transport = createTransport({
        ...{ host, port, secure: isTls, requireTLS: !isTls && !isLoopback(host) },
        ...(user !== null && { auth: { user, pass: password() } }),
        ...{ connectionTimeout: CONNECT_MS, dnsTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS },
        socketTimeout: ANSWER_MS,
        ...{ disableFileAccess: true, disableUrlAccess: true },
      });
      const { response } = await transport.sendMail({
        ...{ from, to, subject, text },
        // RFC 3834: no automatic replies.
        headers: { "auto-submitted": "auto-generated" },
      });
      return { ok: true, said: `${host} took the e-mail to ${to}: ${short(response)}` };
    } catch (error) {
      return faultOf(error, `${host}:${port}`);
    }
  };
}

/** Faults before a server could take anything. The library gives them words alone: their code is that of a lost reply. */
const NOT_CONNECTED = /Connection timeout|Greeting never received/;

interface SmtpFault {
  readonly code?: string;
  /** The code of the connection, which the library replaced by one of its own. */
  readonly originalCode?: string;
  readonly command?: string;
  /** The server's own words. */
  readonly response?: string;
}

function faultOf(error: unknown, place: string): Delivery {
  const { code = "", originalCode = "", command = "", response } = error as SmtpFault;
  const message = errorMessage(error);
  const said = response === undefined ? originalCode || message : `it replied "${short(response)}"`;
  // Without a reply, the server may have taken the e-mail before the connection broke.
  const isBroken = response === undefined && ["ECONNECTION", "ESOCKET", "ETIMEDOUT"].includes(code);
  return {
    ok: false,
    reason: `${sentenceOf(code === "ESOCKET" ? originalCode : code, command, place)} (${short(said)})`,
    isUncertain: isBroken && !isUnreachedCode(originalCode) && !NOT_CONNECTED.test(message),
  };
}

function sentenceOf(code: string, command: string, place: string): string {
  if (isNoWay(code)) return `There is no way to the mail server ${place}: check the network of this machine`;
  switch (code) {
    case "ECONNREFUSED":
      return `No mail server listens at ${place}: check the host and the port`;
    case "EDNS":
      return `The name of the mail server ${place} is unknown: check the host, and this machine's DNS`;
    case "ETIMEDOUT":
      return `The mail server ${place} does not respond: check the port and the firewall`;
    case "EAUTH":
    case "ENOAUTH":
      return `The mail server ${place} refuses the name or the password: check both, many providers want an app password`;
    case "ETLS":
      return `The connection to ${place} cannot be encrypted: use smtps://, or a mail server with STARTTLS`;
    case "EENVELOPE":
      return command === "MAIL FROM"
        ? `The mail server ${place} refuses the sender: set an address that this account may use`
        : `The mail server ${place} refuses the recipient: check the address`;
    case "ENOENT":
    case "EACCES":
      return "The file of the mail password cannot be read: put the password there, readable for this program";
    default:
      return `The mail server ${place} did not take the e-mail: check the host, the port and its log`;
  }
}

function short(text: string): string {
  return printable(text.trim().replaceAll(/\s+/g, " ")).slice(0, SAID_CHARS_MAX);
}
