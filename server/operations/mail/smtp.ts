import { isNoWay, isUnreachedCode } from "../../../shared/network/connection-fault.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { isLoopback } from "../../../shared/network/network-address.ts";
import { printable } from "../../../shared/runtime/printable.ts";
import { type MailCode, type MailReason, mailReason, mailText } from "../../dashboard/types/settings/mail-server.ts";

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
  /** Time for a complete e-mail. A limit of silence would never end one with a server that sends a byte now and then. */
  readonly deadlineMs?: number;
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The name beside the address of the sender. */
  readonly senderName?: string;
  readonly attachment?: { readonly name: string; readonly type: string; readonly content: Buffer };
}

/** The outcome of an e-mail, with its words in English. `isUncertain`: the receiver may have got it. */
export type MailOutcome =
  | { readonly ok: true; readonly said: string; readonly why: MailReason }
  | { readonly ok: false; readonly reason: string; readonly isUncertain: boolean; readonly why: MailReason };

/** Sends an e-mail. Never rejects. */
export type SendMail = (mail: Mail) => Promise<MailOutcome>;

const CONNECT_MS = 10_000;
/**
 * Many servers check an e-mail for half a minute before they take it, and one that was given up then arrives twice. Less than the claim of a
 * message (alerts/book.ts).
 */
const MAIL_MS = 45_000;
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

export function createMailer(settings: SmtpSettings): SendMail {
  const { host, port, isTls, user, from, password, deadlineMs = MAIL_MS } = settings;
  return async ({ to, subject, text, senderName, attachment }) => {
    try {
      // Loaded when needed: a server without a mail server saves its memory.
      const { createTransport } = await import("nodemailer");
      const transport = createTransport({
        ...{ host, port, secure: isTls, requireTLS: !isTls && !isLoopback(host) },
        ...(user !== null && { auth: { user, pass: password() } }),
        ...{ connectionTimeout: CONNECT_MS, dnsTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS },
        ...{ disableFileAccess: true, disableUrlAccess: true },
      });
      const { response } = await transport.sendMail({
        ...{ from: senderName === undefined ? from : { name: printable(senderName), address: from }, to },
        ...{ subject: printable(subject), text },
        ...(attachment !== undefined && {
          attachments: [{ filename: attachment.name, contentType: attachment.type, content: attachment.content }],
        }),
        // RFC 3834: no automatic replies.
        headers: { "auto-submitted": "auto-generated" },
        signal: AbortSignal.timeout(deadlineMs),
      });
      const why = mailReason("MAIL.TAKEN", host, to, short(response));
      return { ok: true, said: mailText(why), why };
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

function faultOf(error: unknown, place: string): MailOutcome {
  const { code = "", originalCode = "", command = "", response } = error as SmtpFault;
  const message = errorMessage(error);
  const reply = response === undefined ? "" : short(response);
  // Without a reply, the server may have taken the e-mail before the connection broke.
  const isBroken = response === undefined && ["ECONNECTION", "ESOCKET", "ETIMEDOUT", "EABORT"].includes(code);
  const isUncertain = isBroken && !isUnreachedCode(originalCode) && !NOT_CONNECTED.test(message);
  const fault = codeOf(code === "ESOCKET" ? originalCode : code, command);
  return failed(mailReason(fault, place, reply, short(originalCode || message)), isUncertain);
}

export function failed(why: MailReason, isUncertain = false): MailOutcome {
  return { ok: false, reason: mailText(why), isUncertain, why };
}

function codeOf(code: string, command: string): MailCode {
  if (isNoWay(code)) return "MAIL.NO_ROUTE";
  switch (code) {
    case "ECONNREFUSED":
      return "MAIL.NOBODY_LISTENS";
    case "EDNS":
      return "MAIL.UNKNOWN_HOST";
    case "ETIMEDOUT":
    case "EABORT":
      return "MAIL.SILENT";
    case "EAUTH":
    case "ENOAUTH":
      return "MAIL.SIGN_IN";
    case "ETLS":
      return "MAIL.NOT_ENCRYPTED";
    case "EENVELOPE":
      return command === "MAIL FROM" ? "MAIL.SENDER" : "MAIL.RECIPIENT";
    case "ENOENT":
    case "EACCES":
      return "MAIL.PASSWORD_FILE";
    default:
      return "MAIL.NOT_TAKEN";
  }
}

function short(text: string): string {
  return printable(text.trim().replaceAll(/\s+/g, " ")).slice(0, SAID_CHARS_MAX);
}
