import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { CONTROL_RESULTS_MAX, type QualityRecord } from "../../../../shared/api/quality.ts";
import { ClosedObject, Nullable } from "../../../../shared/schema/schema.ts";
import { isRealDate } from "../../../../shared/schema/timestamp.ts";
import { ApiError } from "../../../http/errors.ts";
import type { Session } from "../../../database/query.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { answerQuestion } from "../../../records/controls/answers.ts";
import { lastRun } from "../../../records/controls/overview.ts";
import { excludeValue, explainedAt, explainViolation, VIOLATION } from "../../../records/controls/remarks.ts";
import { storedFp, storeRecords } from "../../../records/controls/runs.ts";
import { readTypedControl, typedEvent } from "../../../records/controls/typed.ts";
import { timeFault } from "../../../records/manual/manual-study.ts";
import { clinicOf, userOf } from "../../auth/guard.ts";
import { bodyReader, EntryId } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse, refuseValue } from "../../refuse.ts";
import type {
  AnswerBody,
  ExclusionBody,
  ExplanationBody,
  MadeRecord,
  TypedControl,
  TypedEvent,
} from "../../types/quality.ts";
import { refusal } from "../../types/refusals.ts";
import { actorOf } from "../commands.ts";
import {
  Day,
  dayStart,
  filledText,
  markStudies,
  optional,
  QUALITY_URL as URL,
  seriesNames,
  seriesOf,
  Time,
} from "./shapes.ts";

// Staff writes these parts of quality control: typed controls, names of samples, handling mistakes, explanations and events of devices.

const controlBody: (body: unknown) => TypedControl = bodyReader({
  entry_id: EntryId,
  ...seriesNames,
  measured_at: Time,
  results: Type.Array(
    ClosedObject({ analyte: filledText(64), text: filledText(200), unit: Nullable(Type.String({ maxLength: 32 })) }),
    { minItems: 1, maxItems: CONTROL_RESULTS_MAX },
  ),
  comment: optional(500),
});
const answerBody: (body: unknown) => AnswerBody = bodyReader({
  ...seriesNames,
  sample: Type.String({ maxLength: 100 }),
  sent_level: Nullable(Type.String({ maxLength: 32 })),
  from: Nullable(Day),
});
const exclusionBody: (body: unknown) => ExclusionBody = bodyReader({ reason: filledText(500) });
const explanationBody: (body: unknown) => ExplanationBody = bodyReader({
  violation: Type.String({ maxLength: 40 }),
  text: filledText(1000),
  seen: Nullable(Time),
});
const eventBody: (body: unknown) => TypedEvent = bodyReader({
  entry_id: EntryId,
  device_id: filledText(64),
  at: Time,
  event: Type.Enum(["reagent", "calibration", "maintenance"]),
  ...{ subject: optional(100), lot: optional(64), expires: Nullable(Day), text: optional(500) },
});

const staff = { config: { access: "staff" } } as const;

export function qualityCommands(app: FastifyInstance, context: DashboardContext): void {
  typingRoutes(app, context);
  answerRoute(app, context);
  remarkRoutes(app, context);
}

function typingRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  const storeTyped = async (session: Session, request: FastifyRequest, record: QualityRecord): Promise<MadeRecord> => {
    const { userId, name } = userOf(request);
    const actor = actorOf(request, now());
    const storing = { clinicId: actor.clinicId, now: actor.now, by: { name, userId } };
    const { outcomes, changed } = await storeRecords(session, storing, [record]);
    if (outcomes.includes("unchanged")) return { id: await storedFp(session, actor.clinicId, record) };
    await markStudies(session, request, changed, actor.now);
    await auditCommand(session, `control ${record.kind} add`, [record.fp], actor);
    return { id: record.fp };
  };
  app.post(`${URL}/controls`, staff, async (request) => {
    const typed = controlBody(request.body);
    checkTime("measured_at", typed.measured_at, now());
    return store.transaction(async (session) => {
      const deviceName = await nameOf(session, request, typed.device_id);
      const read = readTypedControl(typed, deviceName, userOf(request).userId);
      if ("refused" in read) refuseValue(read.refused);
      if ("problems" in read) throw new ApiError("REQUEST.INVALID_BODY", `${read.problems.slice(0, 5).join("; ")}.`);
      return storeTyped(session, request, read.run);
    });
  });
  app.post(`${URL}/events`, staff, async (request) => {
    const typed = eventBody(request.body);
    checkTime("at", typed.at, now());
    checkDay(typed.expires);
    return store.transaction(async (session) => {
      const deviceName = await nameOf(session, request, typed.device_id);
      return storeTyped(session, request, typedEvent(typed, deviceName, userOf(request).userId));
    });
  });
}

function answerRoute(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(`${URL}/answers`, staff, async (request) => {
    const { from, ...answer } = answerBody(request.body);
    checkDay(answer.expires);
    const fromAt = from === null ? 0 : dayStart(request, from, "from");
    await store.transaction(async (session) => {
      const changed = await answerQuestion(session, answer, fromAt, actorOf(request, now()));
      if (changed === undefined) throw new ApiError("RECORD.NOT_FOUND", "This sample");
      await markStudies(session, request, changed, now());
    });
    return {};
  });
}

function remarkRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  const url = `${URL}/values/:value/exclusion`;
  const setReason = async (request: FastifyRequest, reason: string | null) => {
    const { value } = request.params as { value: string };
    await store.transaction(async (session) => {
      const id = /^[1-9]\d{0,14}$/.test(value) ? Number(value) : 0;
      const changed = await excludeValue(session, id, reason, actorOf(request, now()));
      if (changed === undefined) throw new ApiError("RECORD.NOT_FOUND", "This value");
      await markStudies(session, request, changed, now());
    });
    return {};
  };
  app.post(url, staff, async (request) => setReason(request, exclusionBody(request.body).reason.trim()));
  app.delete(url, staff, async (request) => setReason(request, null));
  app.post(`${URL}/series/:series/explanations`, staff, async (request) => {
    const { violation, text, seen } = explanationBody(request.body);
    if (!VIOLATION.test(violation)) {
      throw new ApiError("REQUEST.INVALID_BODY", `violation is ${violation}, expected the id of a violation.`);
    }
    await store.transaction(async (session) => {
      const { id: seriesId } = await seriesOf(session, request);
      if ((await explainedAt(session, clinicOf(request).id, violation)) !== seen) refuse(refusal("FORM.CHANGED"));
      const explained = { seriesId, violation, text: text.trim() };
      const isKnown = await explainViolation(session, explained, actorOf(request, now()));
      if (!isKnown) throw new ApiError("RECORD.NOT_FOUND", "This violation");
    });
    return {};
  });
}

/** The name of the device at its last control. A device that the clinic types by hand is called as it is typed. */
async function nameOf(session: Session, request: FastifyRequest, deviceId: string): Promise<string> {
  return (await session.first(lastRun, { clinicId: clinicOf(request).id, deviceId }))?.device_name ?? deviceId;
}

function checkTime(name: string, time: string, now: number): void {
  const fault = timeFault(time, now);
  if (fault === null) return;
  if (fault === "future") refuseValue(refusal("TIME.FUTURE"));
  throw new ApiError("REQUEST.INVALID_BODY", `${name} is ${time}, expected a time that exists.`);
}

function checkDay(day: string | null): void {
  if (day === null || isRealDate(day)) return;
  throw new ApiError("REQUEST.INVALID_BODY", `expires is ${day}, expected a day that exists.`);
}
