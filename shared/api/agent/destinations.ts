import { type Static, Type } from "typebox";
import { textForm } from "../../schema/text-form.ts";
import { Nullable, TIMESTAMP_PATTERN } from "../../schema/schema.ts";

// Destinations of a clinic's results that an agent reaches: it fetches one delivery at a time, sends its bytes as they are, and reports
// the outcome. Order, repetitions and what is refused are kept at the server.

/** Max destinations of an agent, archives of images included. */
export const DESTINATIONS_MAX = 100;

/** Max characters of the words of a receiver. */
export const RECEIVER_TEXT_CHARS_MAX = 500;

/** The expectations of the site of a destination; an absent field has the server's default. */
const AgentDestinationOptions = Type.Object({
  name_order: Type.Optional(Type.Enum(["owner_first", "animal_first"])),
  local_first: Type.Optional(Type.Boolean()),
  pdf: Type.Optional(Type.Boolean()),
  application: Type.Optional(Type.String({ maxLength: 180 })),
  facility: Type.Optional(Type.String({ maxLength: 180 })),
});

/** The body of PUT /agent/v1/destinations: all destinations of the agent. Those that it omits are paused. */
export const AgentDestinations = Type.Object({
  destinations: Type.Array(
    Type.Object({
      id: Type.String({ pattern: textForm("^[\\w.-]{1,64}$", "1 to 64 letters, digits, dots, - or _") }),
      kind: Type.Enum(["hl7", "csv"]),
      options: Type.Optional(AgentDestinationOptions),
    }),
    { maxItems: DESTINATIONS_MAX },
  ),
});
export type AgentDestinations = Static<typeof AgentDestinations>;

/** The answer of GET /agent/v1/destinations/{id}/next. `wait_s` is the time until the next look. */
export const NextDelivery = Type.Object({
  delivery: Nullable(
    Type.Object({
      id: Type.Integer(),
      /** MSH-10, the same in every attempt. */
      control_id: Type.String(),
      /** The first attempt is 1. */
      attempt: Type.Integer(),
      file_name: Nullable(Type.String()),
      /** Base64. */
      payload: Type.String(),
      /** The digest of the bytes as hexadecimal digits. */
      sha256: Type.String(),
    }),
  ),
  wait_s: Type.Integer(),
});
export type NextDelivery = Static<typeof NextDelivery>;

/** A number of a row. A larger one is not an integer in PostgreSQL. */
export const RowNumber = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/**
 * The body of POST /agent/v1/destinations/{id}/outcomes. `refused` is AR or CR: the delivery waits for a person and the next one
 * follows. After `failed` the same bytes are sent again later.
 */
export const DeliveryReport = Type.Object({
  delivery_id: RowNumber,
  attempt: RowNumber,
  at: Type.String({ pattern: TIMESTAMP_PATTERN }),
  outcome: Type.Enum(["acknowledged", "refused", "failed"]),
  /** MSA-1, or a code such as `timeout`. */
  code: Nullable(Type.String({ maxLength: 64 })),
  text: Nullable(Type.String({ maxLength: RECEIVER_TEXT_CHARS_MAX })),
});
export type DeliveryReport = Static<typeof DeliveryReport>;

/** Max refused deliveries of one destination in a list. */
export const PARKED_MAX = 100;

/** The answer of GET /agent/v1/destinations: the queues of the agent's destinations. */
export const DestinationQueues = Type.Object({
  destinations: Type.Array(
    Type.Object({
      id: Type.String(),
      waiting: Type.Integer(),
      /** Refused ones, which wait for a person; the newest first. */
      parked: Type.Array(
        Type.Object({
          delivery_id: Type.Integer(),
          study_fp: Type.String(),
          at: Type.String(),
          code: Nullable(Type.String()),
          text: Nullable(Type.String()),
        }),
        { maxItems: PARKED_MAX },
      ),
    }),
  ),
});
export type DestinationQueues = Static<typeof DestinationQueues>;

/** The body of POST /agent/v1/destinations/{id}/again: refused deliveries that a person sends again. */
export const DeliveriesAgain = Type.Object({
  delivery_ids: Type.Array(RowNumber, { minItems: 1, maxItems: PARKED_MAX }),
});
export type DeliveriesAgain = Static<typeof DeliveriesAgain>;
