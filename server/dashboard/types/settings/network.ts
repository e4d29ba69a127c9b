// Settings, Network: how other machines reach the server. The setting belongs to the machine and not to a clinic.

/** Port for the clinic's network. A program without rights may open it. */
export const LAN_PORT = 8443;

/**
 * `this machine`: nobody else reaches the server. `own authority`: https with a certificate of the authority that the server
 * makes. `own certificate`: https with a certificate that the clinic has. `proxy`: a reverse proxy serves https.
 */
export type NetworkSetting =
  | { way: "this machine" }
  | { way: "own authority"; port: number }
  | { way: "own certificate"; port: number; chain: string; key: string }
  | {
      way: "proxy";
      /** The address that people type. */
      url: string;
      /** Addresses and ranges from which the proxy connects. */
      proxies: string[];
      /** Where the proxy of another machine finds the server; null for one on this machine. */
      listen: { host: string; port: number } | null;
    };

export type NetworkWay = NetworkSetting["way"];

/** Why a setting cannot be used. The page has a sentence for each. */
type NetworkRefusalCode =
  | ("set by options" | "port in use" | "port of this machine" | "port not allowed" | "no such address" | "not saved")
  | ("no certificate" | "no key" | "encrypted key" | "other key" | "expired" | "not yet valid" | "no names")
  | ("wrong chain" | "unusable certificate" | "wrong proxy" | "wrong url");

export interface NetworkRefusal {
  readonly code: NetworkRefusalCode;
  /** What was got: the port, the name, the date. It is the same in all languages. */
  readonly got: string;
}

/** The response to `GET network`. */
export interface NetworkBody extends NetworkState {
  /** False for a user who is not an admin of each clinic of the server. */
  may_change: boolean;
}

export interface NetworkState {
  way: NetworkWay;
  /** Options of the command line or of the service's file, which win over this page. */
  fixed_by: string[];
  /** The setting without certificate and key, which no response contains. */
  port: number | null;
  proxy: { url: string; proxies: string[]; listen: { host: string; port: number } | null } | null;
  /** The address on the server's own machine, which no setting changes. */
  here: string;
  /** Addresses that people and PCs of the network use, the best one first. */
  addresses: string[];
  certificate: { names: string[]; valid_until: string } | null;
  /** The authority of `own authority`. */
  authority: { fingerprint: string; valid_until: string } | null;
  /** Why the port is closed although it should be open. The server tries again each minute. */
  fault: NetworkRefusal | null;
}

/** The response to `PUT network`. Nothing has changed if it was refused. */
export interface NetworkChange {
  refused: NetworkRefusal | null;
  network: NetworkState;
}
