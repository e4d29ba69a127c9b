import type { Identifier, Reference, ServiceRequest } from "fhir/r4.js";
import type { OrderFacts, OrderName, Place, StudyFacts } from "./facts.ts";
import { idOf, reference } from "./ids.ts";

/** Encodes an order of tests. */
export function serviceRequest(order: OrderFacts, place: Place): ServiceRequest {
  const { fp, tests, panel, patientFp, status, orderedAt, updatedAt, accession } = order;
  const ofPlacer = placerIdentifier(order, place);
  return {
    resourceType: "ServiceRequest",
    id: idOf(fp),
    meta: { lastUpdated: new Date(updatedAt).toISOString() },
    identifier: [
      { system: place.systemOf("order"), value: fp },
      ...(ofPlacer === null ? [] : [ofPlacer]),
      { system: place.systemOf("accession"), value: accession },
    ],
    status,
    intent: "order",
    code: { text: panel ?? tests.join(", ") },
    ...(tests.length === 0 ? {} : { orderDetail: tests.map((test) => ({ text: test })) }),
    subject: reference("Patient", idOf(patientFp)),
    authoredOn: new Date(orderedAt).toISOString(),
  };
}

/** The order that a study answers. Null without one. An order of another clinic has a number, and nothing to read. */
export function basedOn({ study, order }: StudyFacts, place: Place): Reference | null {
  if (study.order === undefined) return null;
  if (order === null) return { identifier: { system: place.systemOf("order"), value: study.order.fp } };
  const identifier = placerIdentifier(order, place) ?? { system: place.systemOf("order"), value: order.fp };
  return { ...reference("ServiceRequest", idOf(order.fp)), identifier };
}

function placerIdentifier({ placer }: OrderName, place: Place): Identifier | null {
  return placer === null ? null : { system: place.sourceSystem(placer.source, "order"), value: placer.number };
}
