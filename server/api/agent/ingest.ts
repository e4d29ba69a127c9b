import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { type HeartbeatAnswer, ProfileOutcome, WantedProfile } from "../../../shared/api/configuration.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import { knownPart, overlongList } from "../../../shared/schema/known.ts";
import { problems, textProblems } from "../../../shared/schema/problems.ts";
import { reasonOf } from "../../../shared/api/reason.ts";
import { Heartbeat, Outcome } from "../../../shared/api/study.ts";
import { filingReasonText } from "../../../shared/clinical/filing-reasons.ts";
import { wellFormed } from "../../../shared/runtime/stored-text.ts";
import { ApiError } from "../../http/errors.ts";
import { parseJsonBodies } from "../../http/json-body.ts";
import { keyOf, versionsOf } from "../../http/request-context.ts";
import type { Session } from "../../database/query.ts";
import { wantedDevices } from "../../records/agents/configuration.ts";
import { auditCommand } from "../../records/audit/audit.ts";
import {
  listOwnProfiles,
  OWN_PROFILES_MAX,
  profilesNamed,
  referenceIn,
  saveOwnProfile,
} from "../../records/agents/own-profiles.ts";
import { stepWithHeartbeat, storeHeartbeat } from "../../records/agents/heartbeats.ts";
import { PAGE_INDEXES_MAX, type PageIndex } from "../../records/patients/page-index.ts";
import { listIdentifiers, type Page, type PatientFilter } from "../../records/patients/patients.ts";
import { listRemovedPatients } from "../../records/patients/removals.ts";
import { VersionedCache } from "../../records/patients/versioned-cache.ts";
import { listMappings } from "../../records/codes/codes.ts";
import { listChangedOrders, noteOffered } from "../../records/orders/orders.ts";
import { currentRanges } from "../../records/clinics/ranges.ts";
import { rangesForAgents } from "../../../shared/clinical/clinic-ranges.ts";
import { fileStudies } from "../../records/filing/filing.ts";
import { listPlacements, type PlacementPosition } from "../../records/unmatched/placements.ts";
import { storedStudies } from "../../records/filing/quota.ts";
import { pageOf, type RouteContext } from "../context.ts";
import { destinationRoutes } from "./destinations.ts";
import { newsRoute } from "./news.ts";
import { previewRoutes } from "./previews.ts";
import { qualityRoute } from "./quality.ts";
import { registryFileRoute, registryRoute } from "./registry.ts";
import { releaseRoutes } from "./releases.ts";
import { FAULTS_MAX, faultList, readStudy, studyList } from "./pushed-study.ts";
import { instant, invalid, pageParameters, type Parameter, readParameters } from "../../http/query-parameters.ts";

// The endpoints of the agent. They are not public.

const heartbeat = compileLater(Heartbeat);
const wantedProfile = compileLater(WantedProfile);
const directoryParameters = { ...pageParameters, updated_since: instant("only patients updated at or after it") };
const Outcomes = Type.Object({ outcomes: Type.Array(Outcome) });

const ingest = { header: "x-api-key", permissions: ["clinic.lab.ingest"], budget: "ingest" } as const;
const directory = { ...ingest, budget: "directory" } as const;
const orders = { ...ingest, budget: "orders" } as const;

export function agentRoutes(app: FastifyInstance, context: RouteContext): void {
  parseJsonBodies(app);
  pushRoute(app, context);
  qualityRoute(app, context);
  heartbeatRoute(app, context);
  directoryRoutes(app, context);
  rangesRoute(app, context);
  codesRoute(app, context);
  placementsRoute(app, context);
  ordersRoute(app, context);
  newsRoute(app, context);
  configurationRoute(app, context);
  registryRoute(app, context);
  sentProfilesRoute(app, context);
  destinationRoutes(app, context);
  releaseRoutes(app, context);
  app.register(async (pictures) => previewRoutes(pictures, context));
  app.register(async (files) => registryFileRoute(files, context));
}

function pushRoute(app: FastifyInstance, { store, now, concealUnconnected, quota }: RouteContext): void {
  app.post("/agent/v1/studies", { config: ingest, schema: { response: { 200: Outcomes } } }, async (request) => {
    const clinicId = keyOf(request).clinic_id;
    const clock = now();
    const readings = studyList(request.body).map((candidate) => readStudy(candidate, clock));
    const valid = readings.flatMap((reading) => ("study" in reading ? [reading.study] : []));
    if (request.context.isClinicSuspended) {
      return {
        outcomes: readings.map((reading) => ("study" in reading ? waiting(reading.study.fp) : reading.rejected)),
      };
    }
    // Read before the transaction, which would conflict with all other pushes: pushes under way may exceed the limit.
    const studiesMax = request.context.studiesMax ?? quota.studiesMax;
    const room = studiesMax === null ? undefined : studiesMax - (await storedStudies(store, clinicId));
    const options = { conceal: concealUnconnected, ...(room !== undefined && { room }) };
    // A study is filed once by its fp.
    const filed = await store.transaction((session) => fileStudies(session, clinicId, valid, clock, options), {
      repeatable: true,
    });
    noteDeferred(request, quota, filed, studiesMax);
    const next = filed.values();
    return { outcomes: readings.map((reading) => ("study" in reading ? next.next().value : reading.rejected)) };
  });
}

/** The outcome of a study of a suspended clinic: its agent keeps it and sends it again. */
function waiting(fp: string): Outcome {
  const reason = reasonOf("CLINIC.SUSPENDED");
  return { fp, outcome: "deferred", ...reason, reason: filingReasonText(reason) };
}

function noteDeferred(
  { log }: FastifyRequest,
  quota: RouteContext["quota"],
  filed: readonly Outcome[],
  limit: number | null,
): void {
  const deferred = filed.filter(({ outcome }) => outcome === "deferred").length;
  if (deferred === 0) return;
  quota.deferred += deferred;
  log.warn({ deferred, limit }, "a clinic has reached its limit of studies: its agent keeps new ones");
}

function heartbeatRoute(app: FastifyInstance, { store, now }: RouteContext): void {
  app.post("/agent/v1/heartbeat", { config: { ...ingest, isRoutine: true } }, async (request) => {
    const overlong = overlongList(Heartbeat, request.body);
    if (overlong !== null) throw new ApiError("REQUEST.INVALID_BODY", `${overlong}.`);
    // Unknown fields of another version are discarded, so that a heartbeat has a bounded size.
    const body = wellFormed(knownPart(Heartbeat, request.body));
    if (!heartbeat.Check(body)) {
      throw new ApiError("REQUEST.INVALID_BODY", `${faultList(problems(heartbeat, body, FAULTS_MAX))}.`);
    }
    const { offered_orders: offered = [], ...kept } = body;
    const { id, clinic_id } = keyOf(request);
    const actor = { by: request.ip, now: now(), clinicId: clinic_id };
    const take = async (session: Session): Promise<Static<typeof HeartbeatAnswer>> => {
      const agent = await storeHeartbeat(session, clinic_id, id, kept, actor.now);
      await noteOffered(session, clinic_id, offered, actor.now);
      const { version: running = null, upgrade = null } = body;
      const version = await stepWithHeartbeat(session, { agent, version: running, upgrade }, actor);
      const devices = await wantedDevices(session, id);
      return {
        ...(devices !== undefined && { configuration_version: devices.version }),
        ...(version !== undefined && { upgrade: { version } }),
      };
    };
    return store.transaction(take, { repeatable: true });
  });
}

/** A place in a list of changes. */
const position: Parameter<PlacementPosition | null> = {
  schema: Type.String({ description: "The `next` of a page." }),
  read: (given, name) => {
    if (given === null) return null;
    const [, at = "", id = ""] = /^(\d{1,15})\.(\d{1,15})$/.exec(given) ?? [];
    if (id === "") throw invalid(name, given, "the next of an earlier page");
    return { at: Number(at), id: Number(id) };
  },
};

/** Where the clinic's studies are that changed here after an agent pushed them, so that its counts agree. */
function placementsRoute(app: FastifyInstance, { store }: RouteContext): void {
  const parameters = { updated_since: instant("only studies changed at or after it"), after: position };
  app.get("/agent/v1/placements", { config: { ...directory, parameters } }, async (request) => {
    const { updated_since: since, after } = readParameters(request, parameters);
    const from = after ?? { at: since ?? 0, id: 0 };
    return { success: true, data: await listPlacements(store, keyOf(request).clinic_id, from) };
  });
}

/** Orders of the dashboard and of practice software, with those that ended: a late result still has their accession. */
function ordersRoute(app: FastifyInstance, { store, now }: RouteContext): void {
  const parameters = { updated_since: instant("only orders changed at or after it"), after: position };
  app.get("/agent/v1/orders", { config: { ...orders, parameters } }, async (request) => {
    const { updated_since: since, after } = readParameters(request, parameters);
    const from = after ?? { at: since ?? 0, id: 0 };
    return { success: true, data: await listChangedOrders(store, keyOf(request).clinic_id, from, now()) };
  });
}

/** The devices that an admin wrote for the agent. Null if nobody wrote any. */
function configurationRoute(app: FastifyInstance, { store }: RouteContext): void {
  app.get("/agent/v1/configuration", { config: directory }, async (request) => {
    const { id, clinic_id: clinicId } = keyOf(request);
    const wanted = await wantedDevices(store, id);
    if (wanted === undefined) return { success: true, data: null };
    const profiles = await profilesNamed(store, wanted.devices, clinicId);
    return { success: true, data: { ...wanted, ...(profiles.length > 0 && { profiles }) } };
  });
}

/** Adds `POST /agent/v1/profiles`. A revision never changes: the same text again is known, another one refused. */
function sentProfilesRoute(app: FastifyInstance, { store, now }: RouteContext): void {
  const url = "/agent/v1/profiles";
  app.post(url, { config: ingest, schema: { response: { 200: ProfileOutcome } } }, async (request) => {
    if (!wantedProfile.Check(request.body)) {
      throw new ApiError("REQUEST.INVALID_BODY", `${faultList(problems(wantedProfile, request.body, FAULTS_MAX))}.`);
    }
    const sent = request.body;
    const faults = textProblems(sent);
    if (faults.length > 0) throw new ApiError("REQUEST.INVALID_BODY", `${faultList(faults)}.`);
    if (createHash("sha256").update(sent.text).digest("hex") !== sent.sha256) return refused("PROFILE.HASH");
    if (referenceIn(sent.text) !== sent.profile) return refused("PROFILE.NAMELESS");
    const { id: keyId, clinic_id: clinicId } = keyOf(request);
    const actor = { by: request.ip, now: now(), clinicId };
    const take = async (session: Session): Promise<ProfileOutcome> => {
      const stored = await listOwnProfiles(session, clinicId);
      const before = stored.find(({ profile }) => profile === sent.profile);
      if (before !== undefined) {
        return before.sha256 === sent.sha256 ? { outcome: "known", code: null } : refused("PROFILE.STORED");
      }
      if (stored.length >= OWN_PROFILES_MAX) return refused("PROFILE.TOO_MANY");
      const { profile, text } = sent;
      const isSaved = await saveOwnProfile(session, { profile, text, by: { keyId }, now: actor.now, clinicId });
      if (!isSaved) return refused("PROFILE.STORED");
      await auditCommand(session, "profiles add", [profile], actor);
      return { outcome: "stored", code: null };
    };
    return store.transaction(take, { repeatable: true });
  });
}

function refused(code: NonNullable<ProfileOutcome["code"]>): ProfileOutcome {
  return { outcome: "refused", code };
}

/** Lists for the agent's patient directory, with the pages of GET /api/v1/patients. */
function directoryRoutes(app: FastifyInstance, { store, syncPoints }: RouteContext): void {
  const pageIndexes = new VersionedCache<PageIndex>(PAGE_INDEXES_MAX);
  const directories = [
    {
      url: "/agent/v1/identifiers",
      read: async (filter: PatientFilter) => listIdentifiers(store, pageIndexes, filter),
    },
    { url: "/agent/v1/removed", read: async (filter: PatientFilter) => listRemovedPatients(store, filter) },
  ];
  for (const { url, read } of directories) {
    app.get(url, { config: { ...directory, parameters: directoryParameters } }, async (request) => {
      const { page, page_size: pageSize, updated_since: updatedSince } = readParameters(request, directoryParameters);
      const clinicId = keyOf(request).clinic_id;
      const version = versionsOf(request).lists;
      const { from } = await syncPoints.find(clinicId, updatedSince, versionsOf(request).answers);
      const filter = { clinicId, species: null, updatedSince: from, page, pageSize, version };
      const found: Page<unknown> = await read(filter);
      return { success: true, data: pageOf(found, page, pageSize) };
    });
  }
}

/** The clinic's reference intervals, so that agent and server flag alike. Null if the clinic has none. */
function rangesRoute(app: FastifyInstance, { store }: RouteContext): void {
  app.get("/agent/v1/ranges", { config: directory }, async (request) => {
    const ranges = await currentRanges(store, keyOf(request).clinic_id);
    return { success: true, data: ranges === undefined ? null : rangesForAgents(ranges) };
  });
}

/** The analytes that the clinic chose for codes of its devices. */
function codesRoute(app: FastifyInstance, { store }: RouteContext): void {
  app.get("/agent/v1/codes", { config: directory }, async (request) => ({
    success: true,
    data: await listMappings(store, keyOf(request).clinic_id),
  }));
}
