// The adoption of a newer revision of a clinic's own profile: `/local/v1/devices/ID/adoption` of the agent's page.

/** The changes of the newest revision in the stored messages of a device. */
export interface LocalAdoption {
  readonly from: string;
  readonly to: string;
  /** Messages that were read again. */
  readonly messages: number;
  readonly rows: { readonly added: number; readonly changed: number; readonly lost: number };
  /** The number of messages that change, and the first of them: those with the same difference together. */
  readonly changed: number;
  readonly differences: readonly {
    readonly messages: readonly string[];
    readonly count: number;
    readonly diff: readonly string[];
  }[];
  /** Messages that would become another study, and stay as they were filed. */
  readonly split: number;
  /** Names this difference. Only the one that a person saw is adopted. */
  readonly seen: string;
  /** Mark of the configuration. */
  readonly mark: string;
}

/** The server's answer to an own profile that a person sent: `/local/v1/profiles/sent`. */
export interface LocalSentProfile {
  readonly outcome: "stored" | "known" | "refused";
  /** Why it is refused; null unless it is. */
  readonly code: "PROFILE.HASH" | "PROFILE.NAMELESS" | "PROFILE.STORED" | "PROFILE.TOO_MANY" | null;
}

export type LocalAdopted =
  | { readonly outcome: "adopted"; readonly to: string; readonly changed: number }
  | { readonly outcome: "refused"; readonly problems: readonly string[] };
