import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import {
  ControlRun,
  DeviceEvent,
  QUALITY_PER_PUSH_MAX,
  QualityOutcome,
  type QualityRecord,
} from "../../../shared/api/quality.ts";
import { reasonOf } from "../../../shared/api/reason.ts";
import { wellFormed } from "../../../shared/runtime/stored-text.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import { knownPart, overlongList } from "../../../shared/schema/known.ts";
import { problems, shown, textProblems } from "../../../shared/schema/problems.ts";
import { isAfterClock, isRealDate, isRealInstant } from "../../../shared/schema/timestamp.ts";
import { ApiError } from "../../http/errors.ts";
import { keyOf } from "../../http/request-context.ts";
import { storeRecords } from "../../records/controls/runs.ts";
import { remarkStudies } from "../../records/quality-marks/remark-studies.ts";
import type { RouteContext } from "../context.ts";
import { FAULTS_MAX, faultList } from "./pushed-study.ts";

// POST /agent/v1/quality: runs of control material and events of devices. Nothing of it is a study, and no route of /api/v1 or /fhir
// reads it.

const access = { header: "x-api-key", permissions: ["clinic.lab.ingest"], budget: "ingest" } as const;

const Outcomes = Type.Object({ outcomes: Type.Array(QualityOutcome) });

const kinds = {
  control: { schema: ControlRun, check: compileLater(ControlRun) },
  event: { schema: DeviceEvent, check: compileLater(DeviceEvent) },
} as const;

export function qualityRoute(app: FastifyInstance, { store, now }: Pick<RouteContext, "store" | "now">): void {
  app.post("/agent/v1/quality", { config: access, schema: { response: { 200: Outcomes } } }, async (request) => {
    const clinicId = keyOf(request).clinic_id;
    const clock = now();
    const readings = recordList(request.body).map((candidate) => readRecord(candidate, clock));
    const valid = readings.flatMap((reading) => ("record" in reading ? [reading.record] : []));
    // A record is stored once by its fp.
    const stored = await store.transaction(
      async (session) => {
        const written = await storeRecords(session, { clinicId, now: clock, by: null }, valid);
        await remarkStudies(session, clinicId, written.changed, clock);
        return written;
      },
      { repeatable: true },
    );
    const next = stored.outcomes.values();
    return {
      outcomes: readings.map((reading): QualityOutcome => {
        if ("rejected" in reading) return reading.rejected;
        return { fp: reading.record.fp, outcome: next.next().value ?? "unchanged", reason: null };
      }),
    };
  });
}

function recordList(body: unknown): unknown[] {
  const records = (body as { records?: unknown } | null | undefined)?.records;
  if (!Array.isArray(records)) {
    throw new ApiError("REQUEST.INVALID_BODY", `records is ${shown(records)}, expected a list.`);
  }
  if (records.length > QUALITY_PER_PUSH_MAX) {
    throw new ApiError("REQUEST.INVALID_BODY", `records is ${shown(records)}, at most ${QUALITY_PER_PUSH_MAX}.`);
  }
  return records;
}

/** Checks one record on its own, so that an invalid one does not reject the others. Unknown fields of another version are discarded. */
function readRecord(pushed: unknown, now: number): { record: QualityRecord } | { rejected: QualityOutcome } {
  const { kind } = (pushed ?? {}) as { kind?: unknown };
  if (kind !== "control" && kind !== "event")
    return rejected(pushed, `kind is ${shown(kind)}, expected control or event`);
  const { schema, check } = kinds[kind];
  const overlong = overlongList(schema, pushed);
  if (overlong !== null) return rejected(pushed, overlong);
  const candidate = wellFormed(knownPart(schema, pushed));
  const faults: string[] = problems(check, candidate, FAULTS_MAX);
  if (check.Check(candidate)) {
    const record = candidate;
    faults.push(...textProblems(record), ...timeProblems(record));
    const at = timeOf(record);
    if (faults.length === 0 && isAfterClock(at, now)) {
      return rejected(record, `its time is ${at}, at most a day after the clock's`, "QUALITY.AFTER_CLOCK");
    }
    if (faults.length === 0) return { record };
  }
  return rejected(candidate, faultList(faults));
}

function timeOf(record: QualityRecord): string {
  return record.kind === "control" ? record.measured_at : record.at;
}

function timeProblems(record: QualityRecord): string[] {
  const at = timeOf(record);
  return [
    ...(isRealInstant(at) ? [] : [`its time is ${at}, expected a time that exists`]),
    ...(record.expires === null || isRealDate(record.expires)
      ? []
      : [`expires is ${record.expires}, expected a day that exists`]),
  ];
}

function rejected(
  candidate: unknown,
  words: string,
  code: "QUALITY.INVALID" | "QUALITY.AFTER_CLOCK" = "QUALITY.INVALID",
): { rejected: QualityOutcome } {
  const fp = (candidate as { fp?: unknown } | null)?.fp;
  return {
    rejected: {
      fp: typeof fp === "string" ? fp.slice(0, 64) : "",
      outcome: "rejected",
      reason: reasonOf(code, words),
    },
  };
}
