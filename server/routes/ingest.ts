import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { knownPart, overlongList } from "../../shared/api/known.ts";
import { nulProblems, problems, shown } from "../../shared/api/problems.ts";
import { studyProblems } from "../../shared/clinical/study-checks.ts";
import { Heartbeat, Outcome, PatientHint, PushedStudy, STUDIES_PER_PUSH_MAX } from "../../shared/api/study.ts";
import { ApiError } from "../http/errors.ts";
import { parseJsonBodies } from "../http/json-body.ts";
import { keyOf, versionsOf } from "../http/request-context.ts";
import { storeHeartbeat } from "../store/heartbeats.ts";
import { PageIndexCache } from "../store/patients/page-index.ts";
import { listIdentifiers, listRemoved, type Page } from "../store/patients/patients.ts";
import { currentRanges } from "../store/ranges.ts";
import { fileStudies } from "../store/studies/filing.ts";
import { pageOf, type RouteContext } from "./context.ts";
import { instant, pageParameters, readParameters } from "../http/query-parameters.ts";

// The endpoints of the agent. They are not public.

/** Max faults that the check of a study reports. A longer search would block other requests. */
const FAULTS_MAX = 20;

const pushedStudy = Compile(PushedStudy);
const heartbeat = Compile(Heartbeat);
const directoryParameters = { ...pageParameters, updated_since: instant("only patients updated at or after it") };
const Outcomes = Type.Object({ outcomes: Type.Array(Outcome) });

const ingest = { header: "x-api-key", permissions: ["clinic.lab.ingest"], budget: "ingest" } as const;
const directory = { ...ingest, budget: "directory" } as const;

export function agentRoutes(app: FastifyInstance, { store, now, concealUnconnected }: RouteContext): void {
  const pageIndexes = new PageIndexCache();
  parseJsonBodies(app);

  app.route({
    method: "POST",
    url: "/agent/v1/studies",
    config: ingest,
    schema: { response: { 200: Outcomes } },
    handler: async (request) => {
      const clinicId = keyOf(request).clinic_id;
      const clock = now();
      const readings = studyList(request.body).map((candidate) => readStudy(candidate, clock));
      const valid = readings.flatMap((reading) => ("study" in reading ? [reading.study] : []));
      const filed = await store.transaction((session) =>
        fileStudies(session, clinicId, valid, clock, concealUnconnected),
      );
      const next = filed.values();
      return { outcomes: readings.map((reading) => ("study" in reading ? next.next().value : reading.rejected)) };
    },
  });

  app.route({
    method: "POST",
    url: "/agent/v1/heartbeat",
    config: ingest,
    handler: async (request) => {
      const overlong = overlongList(Heartbeat, request.body);
      if (overlong !== null) throw new ApiError("REQUEST.INVALID_BODY", `${overlong}.`);
      // Unknown fields of another version are discarded, so that a heartbeat has a bounded size.
      const body = knownPart(Heartbeat, request.body);
      if (!heartbeat.Check(body)) {
        throw new ApiError("REQUEST.INVALID_BODY", `${listed(problems(heartbeat, body, FAULTS_MAX))}.`);
      }
      const { id, clinic_id } = keyOf(request);
      await store.transaction((session) => storeHeartbeat(session, clinic_id, id, body, now()));
      return {};
    },
  });

  // Lists for the agent's patient directory, with the pages of GET /api/v1/patients.
  const directories = [
    { url: "/agent/v1/identifiers", read: listIdentifiers, isListed: true },
    { url: "/agent/v1/removed", read: listRemoved, isListed: false },
  ];
  for (const { url, read, isListed } of directories) {
    app.route({
      method: "GET",
      url,
      config: { ...directory, parameters: directoryParameters },
      handler: async (request) => {
        const { page, page_size: pageSize, updated_since: updatedSince } = readParameters(request, directoryParameters);
        const clinicId = keyOf(request).clinic_id;
        const version = versionsOf(request).lists;
        const filter = { clinicId, listed: isListed, species: null, updatedSince, page, pageSize, version };
        const found: Page<unknown> = await read(store, pageIndexes, filter);
        return { success: true, data: pageOf(found, page, pageSize) };
      },
    });
  }

  // The clinic's reference intervals, so that agent and server flag alike. Null if the clinic has none.
  app.route({
    method: "GET",
    url: "/agent/v1/ranges",
    config: directory,
    handler: async (request) => {
      const ranges = await currentRanges(store, keyOf(request).clinic_id);
      return { success: true, data: ranges ?? null };
    },
  });
}

function studyList(body: unknown): unknown[] {
  const studies = (body as { studies?: unknown } | null | undefined)?.studies;
  if (!Array.isArray(studies)) {
    throw new ApiError("REQUEST.INVALID_BODY", `studies is ${shown(studies)}, expected a list.`);
  }
  if (studies.length > STUDIES_PER_PUSH_MAX) {
    throw new ApiError("REQUEST.INVALID_BODY", `studies is ${shown(studies)}, at most ${STUDIES_PER_PUSH_MAX}.`);
  }
  return studies;
}

// Checks each study on its own, so that an invalid one does not reject the others. Unknown fields of another version are
// discarded first. They enter neither the store nor the content hash, so they cause no conflict.
function readStudy(pushed: unknown, now: number): { study: PushedStudy } | { rejected: Outcome } {
  const overlong = overlongList(PushedStudy, pushed);
  if (overlong !== null) return rejected(pushed, overlong);
  const candidate = withWholeHint(knownPart(PushedStudy, pushed));
  const faults = problems(pushedStudy, candidate, FAULTS_MAX);
  if (pushedStudy.Check(candidate)) {
    const { device_name, dedupe_key } = candidate;
    // The hint and the results may contain NUL, since they are stored as JSON, which escapes it.
    faults.push(...nulProblems({ device_name, dedupe_key }));
    faults.push(...studyProblems(candidate, now));
    if (faults.length === 0) return { study: candidate };
  }
  return rejected(candidate, listed(faults));
}

function rejected(candidate: unknown, reason: string): { rejected: Outcome } {
  const fp = (candidate as { fp?: unknown } | null)?.fp;
  return { rejected: { fp: typeof fp === "string" ? fp.slice(0, 64) : "", outcome: "rejected", reason } };
}

const NO_HINT = Object.fromEntries(Object.keys(PatientHint.properties).map((name) => [name, null]));

/** Adds null for each fact of the hint that the agent left out. */
function withWholeHint(candidate: unknown): unknown {
  if (typeof candidate !== "object" || candidate === null || Array.isArray(candidate)) return candidate;
  const { patient_hint: hint = {} } = candidate as { patient_hint?: unknown };
  const isObject = typeof hint === "object" && hint !== null && !Array.isArray(hint);
  return isObject ? { ...candidate, patient_hint: { ...NO_HINT, ...hint } } : candidate;
}

// Lists the first faults and the number of the others.
function listed(faults: readonly string[]): string {
  const rest = faults.length - FAULTS_MAX;
  return faults.slice(0, FAULTS_MAX).join("; ") + (rest > 0 ? `; and at least ${rest} more` : "");
}
