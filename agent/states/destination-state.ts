/** State of a destination of results, as the spool stores it for `status` and the page. */
export interface DestinationState {
  readonly kind: "hl7" | "csv";
  /** Address or folder. */
  readonly to: string;
  /**
   * `idle`: nothing is open, which is no fault: a receiver may close its connection between two messages. `sending`: a delivery is under
   * way. `failed`: the last attempt failed, and another one follows. `server away`: the queue at the server cannot be reached.
   */
  readonly is: "idle" | "connected" | "sending" | "failed" | "server away";
  readonly code: string | null;
  readonly text: string | null;
  /** Deliveries at the server that wait, and that a person has to look at; null before the first look. */
  readonly waiting: number | null;
  readonly parked: number | null;
}
