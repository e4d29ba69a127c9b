import type { RegistryChange } from "../../../../shared/api/agent/registry.ts";
import type { Hl7Message } from "../message/message.ts";
import { isResponse } from "../message/message-types.ts";
import { type AnimalSegments, readAnimal, type RegistryContext } from "./animal.ts";
import { FaultyMessage, type Place, refuse, type RegistryFault, shownValue } from "./fault.ts";
import { ownId } from "./identifiers.ts";
import { readMerges } from "./merges.ts";
import { orderGroups, readOrders } from "./orders.ts";
import type { PracticeSettings } from "./settings.ts";

// Reads a message of practice software (ADT, ORM^O01, OML^O21) to changes of animals, owners and orders.

export type RegistryReading =
  | { readonly is: "changes"; readonly source: string | null; readonly changes: readonly RegistryChange[] }
  /** It changes nothing that is stored: a visit, a response, a message for training. */
  | { readonly is: "without effect" }
  | { readonly is: "refused"; readonly fault: RegistryFault };

/** Triggers of ADT that bring the facts of an animal. */
const UPSERTS = new Set(["A01", "A04", "A05", "A08", "A28", "A31"]);
/** Triggers that move visits alone: admissions, transfers, discharges, and their cancellations. */
const VISITS = new Set(["A02", "A03", "A06", "A07", "A09", "A10", "A11", "A12", "A13"]);
/** A person's facts are taken back. Its results stay, as those of an animal that was removed. */
const REMOVES = "A29";

/** MSH-11, table 0103: training and debugging. */
const NOT_PRODUCTION = /^[TD]$/i;

/** Reads a message. It depends on nothing but its arguments, and its faults on the message alone. */
export function readRegistry(
  message: Hl7Message,
  settings: PracticeSettings,
  context: RegistryContext,
): RegistryReading {
  try {
    return read(message, settings, context);
  } catch (error) {
    if (error instanceof FaultyMessage) return { is: "refused", fault: error.fault };
    throw error;
  }
}

function read(message: Hl7Message, settings: PracticeSettings, context: RegistryContext): RegistryReading {
  const header: Place = { segment: message.header, sequence: 1 };
  const [type = "", trigger = ""] = message.header.components(9).map((part) => part.trim().toUpperCase());
  const isTraining = NOT_PRODUCTION.test(message.header.component(11, 1).trim());
  if (isResponse(message) || isTraining || (type === "ADT" && VISITS.has(trigger))) {
    return { is: "without effect" };
  }
  if (message.replacements > 0) refuse(102, header, 18, `is ${shownValue(message.charset)}, which the text is not`);
  if (message.cutShort !== null) refuse(102, header, 9, "is of a message that is too long");
  const changes = changesOf(`${type}^${trigger}`, message, header, settings, context);
  return { is: "changes", source: sourceOf(message, settings), changes };
}

function changesOf(
  type: string,
  { segments, header }: Hl7Message,
  place: Place,
  settings: PracticeSettings,
  context: RegistryContext,
): RegistryChange[] {
  const sender = header.component(3, 1).trim();
  const [kind, trigger = ""] = type.split("^");
  if (kind === "ADT" && (trigger === "A40" || trigger === "A47")) {
    const changes = readMerges(segments, trigger, sender, settings);
    return changes.length > 0 ? changes : refuse(101, place, 9, `is ${shownValue(type)}, expected PID and MRG`);
  }
  if (kind === "ADT" && (UPSERTS.has(trigger) || trigger === REMOVES)) {
    const animal = animalIn(segments, place);
    const id = idIn(animal, sender, settings);
    return trigger === REMOVES
      ? [{ kind: "patient", item: { external_id: id, deleted: true } }]
      : [{ kind: "patient", item: readAnimal(animal, id, settings, context) }];
  }
  if (type === "ORM^O01" || type === "OML^O21") {
    const animal = animalIn(segments, place);
    const id = idIn(animal, sender, settings);
    const orders = readOrders(orderGroups(segments, place), id, sender, settings, context);
    const item = readAnimal(animal, id, settings, context);
    // The animal of an order may be new here. The facts of a known one come with its own messages.
    const isDescribed = item.name !== undefined && item.species !== undefined;
    const isNew = orders.some(({ cancelled }) => cancelled !== true);
    return [
      ...(isDescribed && isNew ? [{ kind: "patient" as const, item, only_new: true as const }] : []),
      ...orders.map((order) => ({ kind: "order" as const, item: order })),
    ];
  }
  const isKnown = kind === "ADT" || kind === "ORM" || kind === "OML";
  return refuse(isKnown ? 201 : 200, place, 9, `is ${shownValue(type)}, which is not taken`);
}

/** The first PID with what describes it, up to the first order. */
function animalIn(segments: readonly AnimalSegments["nextOfKin"][number][], header: Place): AnimalSegments {
  const pid = segments.find(({ name }) => name === "PID");
  if (pid === undefined) return refuse(101, header, 9, "has no PID after it, expected the patient");
  const order = segments.findIndex(({ name }) => name === "ORC" || name === "OBR");
  const own = order < 0 ? segments : segments.slice(0, order);
  const second = own.findIndex((segment, index) => segment.name === "PID" && index > own.indexOf(pid));
  if (second >= 0) refuse(205, { segment: pid, sequence: 2 }, 3, "is of a second PID, expected one patient");
  return {
    pid: { segment: pid, sequence: 1 },
    nextOfKin: own.filter(({ name }) => name === "NK1"),
    observations: own.filter(({ name }) => name === "OBX"),
  };
}

/** The id in PID-3. Sites without PID-3 have it in PID-2. */
function idIn({ pid }: AnimalSegments, sender: string, settings: PracticeSettings): string {
  const isIn2 = pid.segment.raw(3).trim() === "" && pid.segment.raw(2).trim() !== "" && settings.chipField !== "PID-2";
  return ownId({ ...pid, field: isIn2 ? 2 : 3 }, sender, settings).id;
}

const SOURCE_CHARS_MAX = 64;

/** Names the software: the setting, or MSH-3 in the characters of a source. Null if the message names none. */
function sourceOf({ header }: Hl7Message, { source }: PracticeSettings): string | null {
  if (source !== undefined) return source;
  const name = header
    .component(3, 1)
    .trim()
    .replaceAll(/[^\w.-]+/g, "-");
  return name.replaceAll(/^-+|-+$/g, "").slice(0, SOURCE_CHARS_MAX) || null;
}
