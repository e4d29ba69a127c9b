import type { Command } from "commander";
import type { FixedMailServer } from "../../operations/mail/mail-server.ts";
import { createMailer, isMailAddress, readSmtpUrl } from "../../operations/mail/smtp.ts";
import { isOpenToOthers } from "../../../shared/files/private-folder.ts";
import { readTextFile } from "../../../shared/files/text-file.ts";

// The mail server of a server. The options win over the setting of the dashboard.

export interface AlertOptions {
  readonly smtp?: string;
  readonly smtpFrom?: string;
  readonly smtpPasswordFile?: string;
  readonly publicUrl?: string;
}

export function withAlertOptions(command: Command): Command {
  return command
    .option(
      "--smtp <url>",
      "mail server for alerts and reports, such as smtp://user@mail.example.com:587 or smtps://...",
    )
    .option("--smtp-from <address>", "sender of the e-mails; needed with --smtp")
    .option("--smtp-password-file <file>", "file with the password of the mail server, readable for this user alone")
    .option(
      "--public-url <url>",
      "address of this server for the links in e-mails, such as https://vetwire.example.com",
    );
}

/** @returns null without a mail server @throws Error with the remedy for options that do not fit */
export function mailServerOf({ smtp, smtpFrom, smtpPasswordFile }: AlertOptions): FixedMailServer | null {
  if (smtp === undefined) {
    if (smtpFrom === undefined && smtpPasswordFile === undefined) return null;
    throw new Error("--smtp-from and --smtp-password-file need --smtp, such as smtp://user@mail.example.com:587");
  }
  const server = readSmtpUrl(smtp);
  if (typeof server === "string") throw new Error(`--smtp ${server}`);
  if (smtpFrom === undefined || !isMailAddress(smtpFrom)) {
    throw new Error("--smtp needs --smtp-from with one e-mail address, such as vetwire@example.com");
  }
  if ((server.user === null) !== (smtpPasswordFile === undefined)) {
    throw new Error("--smtp names a user and --smtp-password-file the password: give both or neither");
  }
  const password = () => readPassword(smtpPasswordFile ?? "");
  if (smtpPasswordFile !== undefined) password();
  const { host, port, isTls, user } = server;
  return {
    send: createMailer({ ...server, from: smtpFrom, password }),
    setting: { host, port, encryption: isTls ? "tls" : "starttls", user, from: smtpFrom },
  };
}

function readPassword(file: string): string {
  if (isOpenToOthers(file)) throw new Error(`other users can read ${file}, which holds a password: chmod 600 ${file}`);
  return readTextFile(file).trim();
}

/** @returns the address of the dashboard for links; null if it is unknown @throws Error for another text than a URL */
export function dashboardOf({ publicUrl }: AlertOptions): string | null {
  if (publicUrl === undefined) return null;
  if (/^https?:\/\/[^/?#]+\/?$/.test(publicUrl) && URL.canParse(publicUrl))
    return new URL("/dashboard", publicUrl).href;
  throw new Error(`--public-url is ${publicUrl}, expected an address such as https://vetwire.example.com`);
}
