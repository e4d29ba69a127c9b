import type { FastifyInstance } from "fastify";
import { isFp } from "../../../shared/api/fp.ts";
import { Trail, type TrailStep } from "../../../shared/api/trail.ts";
import type { Place, TimeLineEvent } from "../../dashboard/types/results/results.ts";
import { ApiError } from "../../http/errors.ts";
import { exampleOf } from "../../http/openapi/examples.ts";
import type { Operation } from "../../http/openapi/document.ts";
import { notFound } from "../../http/query-parameters.ts";
import { keyOf } from "../../http/request-context.ts";
import { gapsIn } from "../../records/trail/gaps.ts";
import { studyEvents } from "../../records/trail/study-events.ts";
import { findStoredStudy, findStudy } from "../../records/studies/studies.ts";
import { EnvelopeOf, type RouteContext } from "../context.ts";

// GET /api/v1/lab/diagnostics/{fp}/trail.

const TrailEnvelope = EnvelopeOf(Trail, "TrailEnvelope");

const get = {
  operationId: "getStudyTrail",
  summary: "Get the way of a study",
  description:
    "An addition to the published specification. The proof of delivery: every step from the bytes of the device to the " +
    "receivers and readers, with its time, its clock and its digests, and the parts that nothing shows. A receiver that " +
    "acknowledged a message has it, which does not say that it is in its chart. Steps name users and keys of the " +
    "clinic, never an animal or an owner.",
  header: "x-api-key",
  permissions: ["clinic.audit.view"],
  fp: "cds",
  uncached: true,
  example: { success: true, data: exampleOf.trail },
  errors: ["PATIENT.NOT_FOUND", "PATIENT.ACCESS_DENIED"],
} satisfies Operation;

export function trailRoutes(app: FastifyInstance, { store, concealUnconnected }: RouteContext): void {
  app.get<{ Params: { fp: string } }>(
    "/api/v1/lab/diagnostics/:fp/trail",
    { schema: { response: { 200: TrailEnvelope } }, config: get },
    async (request) => {
      const { fp } = request.params;
      const clinicId = keyOf(request).clinic_id;
      const found = isFp("cds", fp) ? await findStudy(store, clinicId, fp) : undefined;
      const stored = found && (await findStoredStudy(store, fp));
      if (found === undefined || stored === undefined || (concealUnconnected && !found.connected)) {
        throw notFound("cds", "Diagnostic study", fp);
      }
      if (!found.connected) throw new ApiError("PATIENT.ACCESS_DENIED", `the patient of ${fp}`);
      const { timeLine } = await studyEvents(store, clinicId, stored);
      const data: Trail = { fp, revision: stored.revision, steps: timeLine.map(stepOf), gaps: gapsIn(timeLine) };
      return { success: true, data };
    },
  );
}

function stepOf(event: TimeLineEvent): TrailStep {
  const { at } = event;
  switch (event.kind) {
    case "sample":
      return { hop: "measured", at, clock: "device", by: event.device };
    case "received": {
      const { revision, device: by, message: message_id, bytes, sha256 } = event;
      return { hop: "received", at, clock: "agent", revision, by, message_id, bytes, sha256 };
    }
    case "revision": {
      const { revision, by, cause, place, rule, sha256 } = event;
      const facts = { ...(by !== null && { by }), cause, ...(rule !== null && { rule }) };
      return { hop: "stored", at, clock: "server", revision, ...facts, patient_fp: patientIn(place), sha256 };
    }
    case "conflict":
      return { hop: "refused", at, clock: "server", revision: event.revision, reason: event.reason.code };
    case "command":
      return { hop: "changed", at, clock: "server", by: event.by, event: event.command };
    case "delivery": {
      const { to: by, event: name, attempt, ended_at, status, reason } = event;
      const outcome = { status, ended_at, ...(reason !== null && { reason }) };
      return { hop: "offered", at, clock: "server", by, event: name, attempt, ...outcome };
    }
    case "handed": {
      const { to: by, revision, message: message_id, sha256, attempt, ended_at, outcome, code } = event;
      const content = { ...(revision !== null && { revision }), ...(message_id !== null && { message_id }) };
      const end = { ...(outcome !== null && { outcome }), ...(code !== null && { reason: code }) };
      const digest = sha256 === null ? {} : { sha256 };
      return { hop: "handed", at, clock: "server", by, ...content, ...digest, attempt, ended_at, ...end };
    }
    case "opened":
    case "read": {
      const { kind: hop, by, times, last_at } = event;
      return { hop, at, clock: "server", by, times, last_at };
    }
  }
}

function patientIn(place: Place): string | null {
  return place.kind === "patient" ? place.fp : null;
}
