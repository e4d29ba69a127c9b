import { type Static, Type } from "typebox";
import { Nullable, TIMESTAMP_PATTERN } from "../../schema/schema.ts";
import { textForm } from "../../schema/text-form.ts";
import { fpPattern } from "../fp.ts";

// Lists of the server that agents read by changes, page by page.

/** Where studies are that people or imports changed at the server after an agent pushed them: GET /agent/v1/placements. */
export const PlacementList = Type.Object({
  items: Type.Array(
    Type.Object({
      fp: Type.String(),
      /** The study is with a patient, waits at the desk, or was removed from it. */
      place: Type.Enum(["patient", "desk", "rejected"]),
      updated_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
    }),
  ),
  /** `after` of the next page; null on the last one. */
  next: Type.Union([Type.String(), Type.Null()]),
});
export type PlacementList = Static<typeof PlacementList>;

/** Max tests of one order, more than any analyzer runs on one sample. */
export const ORDER_TESTS_MAX = 100;

/** Name of a test in an order, in the words of the device. Its characters have no meaning on the line of a device. */
export const TestName = Type.String({
  maxLength: 64,
  pattern: textForm(
    "^[^\\s\\x00-\\x1f,;|^~&\\\\]([^\\x00-\\x1f,;|^~&\\\\]*[^\\s\\x00-\\x1f,;|^~&\\\\])?$",
    "a name without comma, semicolon, bar, caret, tilde, ampersand or backslash",
  ),
});

/** Device of an order, as agent.yaml names it. Null: any device that queries it. */
export const OrderDevice = Nullable(
  Type.String({ pattern: textForm("^[\\w.-]{1,64}$", "1 to 64 letters, digits, dots, - or _") }),
);

/** An order of the server's users or of practice software. */
export const AgentOrder = Type.Object({
  fp: Type.String({ pattern: fpPattern("order") }),
  accession: Type.String({ pattern: "^[A-Z0-9]{8}$" }),
  patient_fp: Type.String({ pattern: fpPattern("patient") }),
  device: OrderDevice,
  tests: Type.Array(TestName, { minItems: 1, maxItems: ORDER_TESTS_MAX }),
  ordered_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
  /** Devices get open orders. Any other one still ties a late result to its patient. */
  state: Type.Enum(["open", "resulted", "cancelled"]),
});
export type AgentOrder = Static<typeof AgentOrder>;

/** The response of GET /agent/v1/orders: orders that changed, the earliest change first. */
export const OrderList = Type.Object({
  items: Type.Array(AgentOrder),
  /** The time of the last change in the page, for `updated_since` of the next request; null for an empty page. */
  changed_at: Nullable(Type.String({ pattern: TIMESTAMP_PATTERN })),
  /** `after` of the next page; null on the last one. */
  next: Nullable(Type.String()),
});
export type OrderList = Static<typeof OrderList>;

/** The lists of which GET /agent/v1/news has versions. `patients` includes identifiers and removals. */
export type NewsList = "patients" | "orders" | "ranges" | "codes" | "placements" | "appointments";

/** Longest wait for news, in seconds. Load balancers and this server close a connection that is silent for a minute. */
export const NEWS_WAIT_S_MAX = 50;

/** The response of GET /agent/v1/news. */
export const News = Type.Object({
  /** `after` of the next request. */
  version: Type.String(),
  /** An opaque version for each list: another one means another content. */
  lists: Type.Record(Type.String(), Type.String()),
});
export type News = Static<typeof News>;
