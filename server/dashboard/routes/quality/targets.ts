import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { ClosedObject, Nullable } from "../../../../shared/schema/schema.ts";
import { timestampOrNull } from "../../../../shared/runtime/timestamp.ts";
import { isRealDate } from "../../../../shared/schema/timestamp.ts";
import { ApiError } from "../../../http/errors.ts";
import type { Session } from "../../../database/query.ts";
import type { ChangedControls } from "../../../records/controls/series.ts";
import { readSettings, setSetting } from "../../../records/controls/settings.ts";
import { readTargetFile, type TargetLine } from "../../../records/controls/target-file.ts";
import { acceptProposal, meanAndSd, setTarget, targetFault } from "../../../records/controls/targets.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import type {
  AcceptBody,
  MadeRecord,
  RulesBody,
  ScheduleBody,
  TargetBody,
  TargetFile,
  TargetFileBody,
} from "../../types/quality.ts";
import { refusal } from "../../types/refusals.ts";
import { actorOf } from "../commands.ts";
import { filledText, markStudies, QUALITY_URL as URL, seriesNames, seriesOf, Time } from "./shapes.ts";

// Admins decide these: targets of sheets, the own target of the first runs, rules and schedules. Rules and schedules leave the marks of
// earlier studies as they are: else one click would change the results of years. The next control marks those since the last good one.

const Values = Type.Union([
  ClosedObject({ mean: Type.Number(), sd: Type.Number() }),
  ClosedObject({ low: Type.Number(), high: Type.Number(), factor: Type.Union([Type.Literal(2), Type.Literal(3)]) }),
]);
const targetBody: (body: unknown) => TargetBody = bodyReader({
  ...seriesNames,
  analyte: filledText(64),
  unit: Nullable(filledText(32)),
  target: Values,
  since: Type.Enum(["lot", "now"]),
});
/** A table of 500 lines. */
const TEXT_CHARS_MAX = 200_000;
const fileBody: (body: unknown) => TargetFileBody = bodyReader({
  device_id: filledText(64),
  text: Type.String({ maxLength: TEXT_CHARS_MAX }),
  preview: Type.Boolean(),
});
const acceptBody: (body: unknown) => AcceptBody = bodyReader({ mean: Type.Number(), sd: Type.Number() });
const Action = Type.Optional(Type.Enum(["warn", "reject"]));
const Choice = ClosedObject({
  ...{ "1-2s": Action, "1-3s": Action, "2-2s": Action, "R-4s": Action, "4-1s": Action, "10x": Action },
});
type Choice = Static<typeof Choice>;
const rulesBody: (body: unknown) => Omit<RulesBody, "choice"> & { choice: Choice | null } = bodyReader({
  analyte: filledText(64),
  choice: Nullable(Choice),
  seen: Nullable(Time),
});
const scheduleBody: (body: unknown) => ScheduleBody = bodyReader({
  device_id: filledText(64),
  every_days: Nullable(Type.Integer({ minimum: 1, maximum: 366 })),
});

const admin = { config: { access: "admin" } } as const;

export function qualityTargets(app: FastifyInstance, context: DashboardContext): void {
  targetRoutes(app, context);
  fileRoute(app, context);
  settingRoutes(app, context);
}

function targetRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(`${URL}/targets`, admin, async (request): Promise<MadeRecord> => {
    const { target: values, since, unit, material, expires, ...names } = targetBody(request.body);
    const fault = targetFault(values);
    if (fault === "bounds") throw new ApiError("REQUEST.INVALID_BODY", "low is not below high, expected a range.");
    if (fault !== null) throw new ApiError("REQUEST.INVALID_BODY", "sd is not above 0, expected an SD.");
    if (expires !== null && !isRealDate(expires)) {
      throw new ApiError("REQUEST.INVALID_BODY", `expires is ${expires}, expected a day that exists.`);
    }
    const key = { ...names, unit: unit ?? "", material: material ?? "", expires };
    return store.transaction(async (session) => {
      const { id, changed } = await setTarget(session, { key, values, since }, actorOf(request, now()));
      await markStudies(session, request, [changed], now());
      return { id: String(id) };
    });
  });
  app.post(`${URL}/series/:series/accept`, admin, async (request) => {
    const accepted = acceptBody(request.body);
    await store.transaction(async (session) => {
      const series = await seriesOf(session, request);
      const changed = await acceptProposal(session, series, accepted, actorOf(request, now()));
      if (changed === undefined) refuse(refusal("CONTROL.PROPOSAL_CHANGED"));
      await markStudies(session, request, [changed], now());
    });
    return {};
  });
}

function fileRoute(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(`${URL}/targets/file`, admin, async (request): Promise<TargetFile> => {
    const { device_id, text, preview } = fileBody(request.body);
    const read = readTargetFile(text);
    if ("faults" in read) return { targets: [], faults: read.faults, stored: false };
    const targets = read.lines.map(shownLine);
    if (preview) return { targets, faults: [], stored: false };
    await store.transaction((session) => storeLines(session, request, { device_id, lines: read.lines, now: now() }));
    return { targets, faults: [], stored: true };
  });
}

/** The target of a line holds for all runs of its lot. */
async function storeLines(
  session: Session,
  request: FastifyRequest,
  { device_id, lines, now }: { device_id: string; lines: readonly TargetLine[]; now: number },
): Promise<void> {
  const all: ChangedControls[] = [];
  for (const { key, values } of lines) {
    const target = { key: { ...key, device_id }, values, since: "lot" } as const;
    all.push((await setTarget(session, target, actorOf(request, now))).changed);
  }
  const analytes = [...new Set(all.flatMap((changed) => changed.analytes))];
  const from = Math.min(...all.map((changed) => changed.from));
  await markStudies(session, request, [{ deviceId: device_id, analytes, from, to: Number.MAX_SAFE_INTEGER }], now);
}

function shownLine({ line, key: { analyte, unit, level, lot }, values }: TargetLine): TargetFile["targets"][number] {
  const { mean, sd } = meanAndSd(values);
  return { line, analyte, unit: unit === "" ? null : unit, level, lot, mean, sd };
}

function settingRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.put(`${URL}/rules`, admin, async (request) => {
    const { analyte, choice, seen }: RulesBody = rulesBody(request.body);
    await store.transaction(async (session) => {
      const { rules } = await readSettings(session, clinicOf(request).id);
      if (timestampOrNull(rules.get(analyte)?.at ?? null) !== seen) refuse(refusal("FORM.CHANGED"));
      await setSetting(session, { analyte }, choice, actorOf(request, now()));
    });
    return {};
  });
  app.put(`${URL}/schedule`, admin, async (request) => {
    const { device_id, every_days } = scheduleBody(request.body);
    await store.transaction((session) => setSetting(session, { device_id }, every_days, actorOf(request, now())));
    return {};
  });
}
