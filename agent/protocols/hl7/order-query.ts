import type { OrderQuery } from "../order-query.ts";
import { asksForOrders } from "./message/message-types.ts";
import type { Hl7Message } from "./message/message.ts";

export interface Hl7OrderQuery extends OrderQuery {
  readonly message: Hl7Message;
}

/** Reads an order query. @returns null without one */
export function readOrderQuery(message: Hl7Message): Hl7OrderQuery | null {
  if (!asksForOrders(message)) return null;
  const { all, kind, numbers, from = "", to = "" } = readQueryFields(message);
  const named = [...new Set(numbers.map((number) => number.trim()))].filter(Boolean);
  const unnamed = { patient: "", specimen: "" };
  return {
    message,
    samples: all ? [] : named.map((number) => ({ ...unnamed, [kind]: number })),
    all,
    from,
    to,
    // A query for all orders gets one message per order, without orders that the device has received.
    newOnly: all,
    demographicsOnly: false,
    resultsOnly: false,
    tests: [],
    problem: all || named.length > 0 ? null : "no sample or patient is named",
  };
}

interface QueryFields {
  readonly all: boolean;
  /** Kind of the queried numbers. */
  readonly kind: "patient" | "specimen";
  readonly numbers: readonly string[];
  readonly from?: string;
  readonly to?: string;
}

function readQueryFields({ header, segments }: Hl7Message): QueryFields {
  const those = (name: string) => segments.filter((segment) => segment.name === name);
  switch (header.component(9, 1).trim().toUpperCase()) {
    case "QRY": {
      // QRD-8 holds the barcode. Without one the query covers the period from QRF-2 to QRF-3.
      const numbers = those("QRD").flatMap((qrd) => qrd.repetitions(8).map(([first = ""]) => first));
      const [range] = those("QRF");
      const all = numbers.every((number) => number.trim() === "");
      return { all, kind: "specimen", numbers, from: range?.component(2, 1) ?? "", to: range?.component(3, 1) ?? "" };
    }
    case "ORM": {
      // The device fills the order: ORC-3 holds the sample number, ORC-2 on some devices.
      const numbers = those("ORC").map((orc) => orc.component(3, 1).trim() || orc.component(2, 1));
      return { all: false, kind: "specimen", numbers };
    }
    default: {
      const [query] = those("QPD");
      // IHE LAW queries: WOS (one container), WOS_BY_PATIENT, WOS_ALL.
      const name = query?.component(1, 1).trim().toUpperCase();
      const kind = name === "WOS_BY_PATIENT" ? "patient" : "specimen";
      return { all: name === "WOS_ALL", kind, numbers: [query?.component(3, 1) ?? ""] };
    }
  }
}
