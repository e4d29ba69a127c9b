import { type Static, Type } from "typebox";
import { ORDER_TESTS_MAX, OrderDevice, TestName } from "../../../../shared/api/agent/agent-lists.ts";
import { EXTERNAL_ID_CHARS_MAX } from "../../../../shared/api/agent/registry.ts";
import { compileLater } from "../../../../shared/schema/compile-later.ts";
import { ClosedObject, Nullable } from "../../../../shared/schema/schema.ts";
import { externalIdOf, formFaults, readEach, readTime, type RefusedItem } from "./items.ts";
import { answerOf, bodyOf, ExternalId, type SyncFault, ZONED_TIME } from "./messages.ts";

// The orders that practice software sends, what it gets back, and how each one is read.

const SyncOrder = Type.Object(
  {
    external_id: ExternalId,
    patient: Type.String({
      minLength: 1,
      maxLength: EXTERNAL_ID_CHARS_MAX,
      description: "The `external_id` of the patient, which the same source has sent to `/sync/v1/patients`.",
    }),
    tests: Type.Array(TestName, {
      minItems: 1,
      maxItems: ORDER_TESTS_MAX,
      description:
        "Names of the tests: analytes such as `ALT` or a LOINC code. With `device` they may be the words of that device, such as a panel.",
    }),
    device: Type.Optional({
      ...OrderDevice,
      description: "Id of the device at the clinic. Null or absent: any device that queries the order.",
    }),
    ordered_at: Type.String({ pattern: ZONED_TIME, description: "Time of the order." }),
    cancelled: Type.Optional(
      Type.Boolean({ description: "True cancels the order. An order with results is not cancelled." }),
    ),
  },
  {
    additionalProperties: false,
    title: "SyncOrder",
    description:
      "An order of tests for a sample of one patient. Only `cancelled` may change later: cancel an order and send another one.",
  },
);
type SyncOrder = Static<typeof SyncOrder>;

export const SyncOrders = bodyOf(
  SyncOrder,
  { mode: Type.Literal("partial", { description: "Orders that are not among the items stay as they are." }) },
  "SyncOrders",
  "Orders of one source.",
);

const { items, ...aboutAll } = answerOf("order", "", {}).properties;

export const SyncOrdersAnswer = Type.Object(
  {
    ...aboutAll,
    items: Type.Array(
      ClosedObject({
        ...items.items.properties,
        accession: Nullable(
          Type.String({
            description:
              "Number of the sample for its label: staff type or scan it at the analyzer. Null if nothing is stored, and for a new " +
              "order in a dry run.",
          }),
        ),
      }),
      { description: "One outcome for each item, in order." },
    ),
  },
  { additionalProperties: false, title: "SyncOrdersAnswer", description: "What became of each item." },
);

export interface ReadOrder {
  readonly externalId: string;
  /** The external id of its patient. */
  readonly patient: string;
  readonly tests: readonly string[];
  readonly device: string | null;
  /** The clinic's panel that the order named. Absent for none. */
  readonly panel?: string | null;
  readonly orderedAt: number;
  readonly isCancelled: boolean;
}

const orderItem = compileLater(SyncOrder);

export function readOrders(given: readonly unknown[], now: number): (ReadOrder | RefusedItem)[] {
  return readEach(given, (item) => readOrderItem(item, now));
}

function readOrderItem(item: unknown, now: number): ReadOrder | RefusedItem {
  const faults = formFaults(orderItem, item, () => false);
  if (faults.length > 0) return { externalId: externalIdOf(item), faults };
  const { external_id: externalId, patient, tests, device = null, ordered_at, cancelled } = item as SyncOrder;
  const noted: SyncFault[] = [];
  const orderedAt = readTime("ordered_at", ordered_at, now, noted) ?? now;
  if (noted.length > 0) return { externalId, faults: noted };
  return { externalId, patient, tests: [...new Set(tests)], device, orderedAt, isCancelled: cancelled === true };
}
