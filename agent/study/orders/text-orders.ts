import { readSex } from "../../../shared/clinical/sex.ts";
import type { OrderQuery, OrderReply } from "../../protocols/order-query.ts";
import type { TextOrder, TextOrderQuery } from "../../protocols/text/orders.ts";

// Queries and orders of devices with a text layout, between their profile and the look-up.

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
