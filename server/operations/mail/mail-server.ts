import { type MailSetting, mailReason } from "../../dashboard/types/settings/mail-server.ts";
import type { Session } from "../../database/query.ts";
import { createMailer, failed, type SendMail } from "./smtp.ts";
import { openPassword, readMailServer } from "./stored-mail-server.ts";

/** A mail server of the command line. */
export interface FixedMailServer {
  readonly send: SendMail;
  readonly setting: MailSetting;
}

interface Options {
  readonly session: Session;
  /** The secret with which the password is sealed. */
  readonly pepper: Buffer;
  /** The mail server of the command line, which wins; null without one. */
  readonly fixed: () => FixedMailServer | null;
}

/** The mail server in use: that of the command line, else the one that the dashboard set. A change needs no restart. */
export class MailServer {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /** The setting of the command line; null without one. */
  get fixed(): MailSetting | null {
    return this.#options.fixed()?.setting ?? null;
  }

  async isSet(): Promise<boolean> {
    return this.fixed !== null || (await readMailServer(this.#options.session)) !== null;
  }

  readonly send: SendMail = async (mail) => {
    const { session, pepper, fixed } = this.#options;
    const ofOptions = fixed();
    if (ofOptions !== null) return ofOptions.send(mail);
    const stored = await readMailServer(session);
    if (stored === null) return failed(mailReason("MAIL.NOT_SET"));
    const { host, port, encryption, user, from } = stored.setting;
    let password = "";
    try {
      if (stored.sealedPassword !== null) password = openPassword(stored.sealedPassword, pepper);
    } catch {
      // The pepper is another one, such as after the loss of its file.
      return failed(mailReason("MAIL.PASSWORD"));
    }
    return createMailer({ host, port, isTls: encryption === "tls", user, from, password: () => password })(mail);
  };
}
