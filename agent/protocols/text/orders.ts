// Order queries of devices with a text layout of their own. The profile reads the query and encodes the reply.

export interface TextOrders {
  /** The device's own names of tests, with an example for an error message. */
  readonly tests: { readonly example: string; readonly pattern: RegExp };
  /** Returns null for a text without a query. */
  readonly readQuery: (text: string) => TextOrderQuery | null;
  /** Encodes the reply, one byte a character. Without an order the reply reports that. */
  readonly encodeReply: (query: TextOrderQuery, orders: readonly TextOrder[]) => string;
}

/** Query for the orders of a sample, of a patient, or for all open orders. Fields that the device leaves out are "". */
export interface TextOrderQuery {
  /** Type of the query in the layout. */
  readonly type: string;
  readonly specimen: string;
  readonly patient: string;
  /** Max orders of the reply. */
  readonly max: number;
  /** The reply lists the tests, so the device has the orders of its reply. Else it queries each of them. */
  readonly withTests: boolean;
}

/** Order for the device in printable ASCII. */
export interface TextOrder {
  readonly specimen: string;
  readonly name: string;
  readonly sex: "M" | "F" | null;
  readonly tests: readonly string[];
}
