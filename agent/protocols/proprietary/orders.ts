import { readSex } from "../../../shared/clinical/sex.ts";
import type { OrderQuery, OrderReply } from "../order-query.ts";

// Order queries of devices with a text layout of their own. The profile reads the query and encodes the reply.

export interface TextOrders {
  /** Returns null for a text without a query. */
  readonly readQuery: (text: string) => TextOrderQuery | null;
  /** Encodes the reply, one byte a character. Without an order it says that there is none. */
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
  /** The reply lists the tests, so the device has the orders of its reply. Else it asks again for each of them. */
  readonly withTests: boolean;
}

/** Order for the device in printable ASCII. */
export interface TextOrder {
  /** The accession. */
  readonly specimen: string;
  readonly name: string;
  readonly sex: "M" | "F" | null;
  readonly tests: readonly string[];
}

export function orderQueryOf({ specimen, patient }: TextOrderQuery): OrderQuery {
  const all = specimen === "" && patient === "";
  return {
    samples: all ? [] : [{ patient, specimen }],
    all,
    from: "",
    to: "",
    newOnly: false,
    demographicsOnly: false,
    resultsOnly: false,
    tests: [],
    problem: null,
  };
}

/** Returns the orders of the replies, without the patients that have none. */
export function textOrders(replies: readonly OrderReply[]): TextOrder[] {
  return replies.flatMap(({ patient, orders }) =>
    orders
      .filter(({ report }) => report === "Q")
      .map(({ specimen, tests }) => ({
        specimen,
        name: ascii(patient?.name ?? ""),
        sex: readSex(patient?.sex ?? null),
        tests: tests.map(ascii),
      })),
  );
}

/** Devices read Latin-1, katakana or IBM 850 above ASCII, and all of them read unaccented characters. */
function ascii(text: string): string {
  const plain = text.normalize("NFD").replace(/\p{M}/gu, "").replaceAll("ı", "i");
  return plain.replace(/[^ -~]/gu, "?");
}
