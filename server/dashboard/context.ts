import type { Logger } from "pino";
import type { Delivery } from "../operations/alerts/book.ts";
import type { Receiver } from "../operations/alerts/deliver.ts";
import type { SendMail } from "../operations/mail/smtp.ts";
import type { OidcProvider } from "../oidc/provider.ts";
import type { MailSetting } from "./types/settings/mail-server.ts";
import type { NetworkRefusal, NetworkSetting, NetworkState } from "./types/settings/network.ts";
import type { Role } from "./types/settings/session.ts";
import type { RateLimiter } from "../http/rate-limit/rate-limiter.ts";
import type { SharedCounters } from "../records/clinics/rate-limit-counters.ts";
import type { Store } from "../database/store.ts";

/** The one-time code with which the first admin proves access to the server's machine. */
export interface SetupCode {
  /** Whether the text is the code. Spaces, dashes and letter case do not count. */
  matches(text: string): boolean;
  /** Ends the code: no text matches from now on. */
  end(): void;
}

/** Sends messages about alerts. */
export interface AlertTester {
  /** Sends a test message to a receiver of the clinic. Never rejects for a fault of the receiver. */
  test(clinicId: number, receiver: Receiver): Promise<Delivery>;
}

/** The mail server of the server. */
export interface MailControl {
  /** The setting of the command line, which wins; null without one. */
  readonly fixed: MailSetting | null;
  isSet(): Promise<boolean>;
  readonly send: SendMail;
}

/** How other machines reach the server. */
export interface NetworkControl {
  state(): NetworkState;
  /** The address of the server that the clinic or the command line named, such as that of a proxy; null without one. */
  readonly named: string | null;
  /** @returns why nothing changed; null after the change */
  change(setting: NetworkSetting): Promise<NetworkRefusal | null>;
  /** The certificate of the server's own authority as PEM; null without one. */
  readonly authority: string | null;
}

/** The role of a group of the provider in a clinic, whose fp is named, or at the operator's console. */
export type GroupRole =
  | { readonly group: string; readonly clinic: string; readonly role: Role }
  | { readonly group: string; readonly role: "operator" };

/** Signing in through a provider (OpenID Connect). */
export interface SingleSignOn {
  readonly provider: OidcProvider;
  /** Reads the roles of the groups. @throws Error with the remedy */
  readonly readRoles: () => readonly GroupRole[];
}

/** Dependencies of the dashboard's routes. */
export interface DashboardContext {
  readonly store: Store;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly logger: Logger;
  /** The secret of the key digests. */
  readonly pepper: Buffer;
  readonly counters: SharedCounters;
  /** Counts requests without a session by their address, as those of the API without a key. */
  readonly limiter: RateLimiter;
  /** Present until the first user exists. */
  readonly setupCode: SetupCode | undefined;
  /** Null if passwords alone sign in. */
  readonly singleSignOn: SingleSignOn | null;
  /** Whether webhooks may go to receivers in the local network. */
  readonly allowPrivateWebhooks: boolean;
  readonly alerts: AlertTester;
  readonly mail: MailControl;
  /** The folder with the releases of the agent; null for none. */
  readonly releaseFolder: string | null;
  /** Returns the time of the oldest backup that the server knows; null if it knows of none. */
  readonly oldestBackup: () => string | null;
  /** Null in a test. */
  readonly network: NetworkControl | null;
  /** Runs imports of files in the background. */
  readonly imports: BackgroundWork;
}

/** Work that waits in the database. */
export interface BackgroundWork {
  /** Starts what waits. Never rejects. */
  check(): Promise<void>;
}
