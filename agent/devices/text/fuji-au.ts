import type { TextProfile } from "../../protocols/text/profile.ts";
import { fujiOrders } from "./fuji-orders.ts";
import { fujiHasBcc, fujiTrouble, type MarkMeanings, readFujiText } from "./fuji-text.ts";

/** Marks of the immunoassay. The byte at place 5 is not known. */
const MARKS: MarkMeanings = {
  2: { "@": "outside the measuring range" },
  3: { "#": "the chip is expired" },
  4: { "+": "the temperature is too high", "-": "the temperature is too low" },
  5: { any: "the waste box was opened" },
};

/**
 * Fujifilm IMMUNO AU10V and AU20V, immunoassay, types 1, 2 and 3, each with or without the interval, serial or dialling over
 * TCP. Seen in a log of one AU20V: a value that starts with a blank. All else is by the maker's document Z39N201285C alone.
 * Unverified: the meaning of the marks + and -, the padding of replies to X and Y, and the kind of interval in them, which is 0.
 */
export const fujiAu: TextProfile = {
  id: "fuji-au",
  protocol: "text",
  link: { kind: "bcc", hasBcc: fujiHasBcc, trouble: fujiTrouble },
  device_name: "Fujifilm IMMUNO AU",
  modality: "BIOCHEMISTRY",
  orders: fujiOrders,
  charset: "katakana",
  read: (text) => readFujiText(text, MARKS),
};
