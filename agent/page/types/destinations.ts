import type { DestinationQueues } from "../../../shared/api/agent/destinations.ts";

// Practice software and folders that get results: `/local/v1/destinations`.

export interface LocalDestinations {
  readonly destinations: readonly LocalDestination[];
}

export interface LocalDestination {
  readonly id: string;
  readonly kind: "hl7" | "csv";
  /** Address or folder. */
  readonly to: string;
  readonly state: "idle" | "connected" | "sending" | "failed" | "server away" | "not served";
  readonly code: string | null;
  readonly text: string | null;
  readonly last_sent_at: string | null;
  readonly waiting: number | null;
  /** The results that the receiver refused; null while the server cannot be reached. */
  readonly parked: DestinationQueues["destinations"][number]["parked"] | null;
}
