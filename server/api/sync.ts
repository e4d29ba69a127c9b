import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { printable } from "../../shared/runtime/printable.ts";
import { ruleFaults } from "../../shared/schema/problems.ts";
import { ApiError } from "../http/errors.ts";
import { parseJsonBodies } from "../http/json-body.ts";
import type { Operation } from "../http/openapi/document.ts";
import { exampleFp } from "../http/openapi/examples.ts";
import { readParameters, text, yesOrNo } from "../http/query-parameters.ts";
import { keyOf } from "../http/request-context.ts";
import type { Session } from "../database/query.ts";
import { findAnswer, keepAnswer } from "../records/registry/sync-answers.ts";
import { readOwners, readPatients } from "../records/registry/sync-items.ts";
import {
  SYNC_ITEMS_MAX,
  SyncAnswer,
  syncOutcomes,
  SyncOwners,
  SyncOwnersAnswer,
  SyncPatients,
} from "../records/registry/sync-messages.ts";
import { readOrders, SyncOrders, SyncOrdersAnswer } from "../records/registry/sync-order-items.ts";
import { syncOrders } from "../records/registry/sync-orders.ts";
import { syncOwners } from "../records/registry/sync-owners.ts";
import { syncPatients } from "../records/registry/sync-patients.ts";
import type { SyncRequest, SyncResult } from "../records/registry/sync-request.ts";
import type { RouteContext } from "./context.ts";

// /sync/v1: practice software sends the clinic's patients, their owners and orders. A request is stored completely or not at all; an item
// with a fault is left out and named.

/** A made-up request to /sync/v1/patients, and its answer. */
const example = {
  body: {
    source: "example-pims",
    mode: "partial",
    items: [
      {
        external_id: "00417",
        name: "Pamuk",
        species: "Kedi",
        sex: "FS",
        owner: { external_id: "3001", name: "Ada Örnek" },
        identifiers: [{ type: "microchip", value: "900085000123456" }],
        updated_at: "2026-11-21T06:45:00Z",
      },
      { external_id: "00500", name: "Boncuk", species: "Zebra?", owner: { external_id: "3001", name: "Ada Örnek" } },
    ],
  },
  answer: {
    dry_run: false,
    commit_token: null,
    counts: { created: 1, updated: 0, unchanged: 0, deleted: 0, rejected: 1 },
    items: [
      { index: 0, external_id: "00417", fp: exampleFp("patient"), outcome: "created", errors: [] },
      {
        index: 1,
        external_id: "00500",
        fp: null,
        outcome: "rejected",
        errors: [
          {
            field: "species",
            code: "unknown_species",
            message:
              'species is "Zebra?", expected a word for one of dog, cat, rabbit, bird, reptile, exotic, horse, cow',
          },
        ],
      },
    ],
  } satisfies SyncAnswer,
};

/** What the operations share. */
const common = {
  header: "x-api-key",
  permissions: ["clinic.sync.write"],
  parameters: {
    dry_run: yesOrNo("Stores nothing, and returns what would become of each item."),
    commit_token: text(
      "The `commit_token` of a dry run of the same body. Refused if the outcomes would differ by now.",
    ),
  },
  idempotencyKey: true,
  errors: [
    "SYNC.INVALID_BODY",
    "SYNC.FULL_NOT_SUPPORTED",
    "SYNC.STATE_MOVED",
    "SYNC.ID_REUSED",
    "SYNC.TOO_MANY_ITEMS",
    "REQUEST.INVALID_BODY",
    "REQUEST.TOO_LARGE",
  ],
} satisfies Partial<Operation>;

const patients = {
  ...common,
  operationId: "syncPatients",
  summary: "Send patients and their owners",
  description:
    "Creates, updates and removes patients of the key's clinic. A patient is known by `source` and `external_id`, so that sending " +
    "an item again changes nothing. The items that are valid are stored together; each item has its own outcome. Results of " +
    "analyzers that wait for a patient are filed to it by the clinic's agent within a minute.",
  body: SyncPatients,
  bodyExample: example.body,
  example: example.answer,
} satisfies Operation;

const owners = {
  ...common,
  operationId: "syncOwners",
  summary: "Send owners",
  description:
    "Creates and updates owners, as they change without their patients. The items of patients name their owners too; the newest " +
    "item of either kind counts.",
  body: SyncOwners,
  bodyExample: {
    source: "example-pims",
    mode: "partial",
    items: [{ external_id: "3001", name: "Ada Örnek", phone: "+90 555 000 00 00" }],
  },
  example: {
    dry_run: false,
    commit_token: null,
    counts: { created: 0, updated: 1, unchanged: 0, deleted: 0, rejected: 0 },
    items: [{ index: 0, external_id: "3001", fp: exampleFp("customer"), outcome: "updated", errors: [] }],
  } satisfies SyncAnswer,
} satisfies Operation;

const orders = {
  ...common,
  operationId: "syncOrders",
  summary: "Send orders of tests",
  description:
    "Orders tests for samples of patients that the same source has sent. The answer has the accession of each order for the label of " +
    "its tube. The clinic's devices get the orders when they query them, and the study that answers one has `order` in `/api/v1`. " +
    "An order never changes but for its cancellation.",
  body: SyncOrders,
  bodyExample: {
    source: "example-pims",
    mode: "partial",
    items: [
      { external_id: "10231", patient: "00417", tests: ["ALT", "CREA"], ordered_at: "2026-11-21T09:50:00+03:00" },
    ],
  },
  example: {
    dry_run: false,
    commit_token: null,
    counts: { created: 1, updated: 0, unchanged: 0, deleted: 0, rejected: 0 },
    items: [
      {
        index: 0,
        external_id: "10231",
        fp: exampleFp("order"),
        outcome: "created",
        errors: [],
        accession: "T4KQ7WMX",
      },
    ],
  } satisfies Static<typeof SyncOrdersAnswer>,
} satisfies Operation;

/** How the items of a route are read and stored. */
interface Door<Item> {
  readonly read: (items: readonly unknown[], now: number) => Item[];
  readonly store: (session: Session, request: SyncRequest<Item>) => Promise<SyncResult>;
}

type Context = Pick<RouteContext, "store" | "now">;

export function syncRoutes(app: FastifyInstance, context: Context): void {
  parseJsonBodies(app);
  app.post(
    "/sync/v1/patients",
    { schema: { response: { 200: SyncAnswer } }, config: { ...patients, budget: "sync" } },
    handler({ read: readPatients, store: syncPatients }, context),
  );
  app.post(
    "/sync/v1/owners",
    { schema: { response: { 200: SyncOwnersAnswer } }, config: { ...owners, budget: "sync" } },
    handler({ read: readOwners, store: syncOwners }, context),
  );
  app.post(
    "/sync/v1/orders",
    { schema: { response: { 200: SyncOrdersAnswer } }, config: { ...orders, budget: "sync" } },
    handler({ read: readOrders, store: syncOrders }, context),
  );
}

function handler<Item>(door: Door<Item>, { store, now }: Context) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<SyncAnswer> => {
    const asked = readRequest(request, now());
    const read = { ...asked, items: door.read(asked.items, asked.now) };
    const work = async (session: Session) => answerOf(await door.store(session, read), asked);
    const answer = asked.dryRun
      ? await rolledBack((dry) => store.transaction(dry), work)
      : await store.transaction((session) => answerOnce(session, asked, work), { repeatable: true });
    return send(reply, answer);
  };
}

type Asked = ReturnType<typeof readRequest>;

function readRequest(request: FastifyRequest, now: number) {
  const { dry_run: dryRun, commit_token: token } = readParameters(request, common.parameters);
  const { source, items } = readBody(request.body);
  const { id: keyId, clinic_id: clinicId } = keyOf(request);
  return {
    ...{ dryRun, token, source, clinicId, now, keyId },
    items,
    clock: () => now,
    by: { requestId: request.id, keyId, address: request.ip },
    bodyDigest: digestOf(JSON.stringify(request.body)),
    id: idOf(request),
    requestDigest: digestOf(request.url, JSON.stringify(request.body)),
  };
}

const whole = Compile(
  Type.Object({ ...SyncPatients.properties, items: Type.Array(Type.Unknown()) }, { additionalProperties: false }),
);

/** Reads the parts around the items, which are checked one by one. */
function readBody(sent: unknown): { source: string; items: readonly unknown[] } {
  const given = sent as { mode?: unknown; items?: unknown } | null;
  const length = Array.isArray(given?.items) ? given.items.length : 0;
  if (length > SYNC_ITEMS_MAX) throw new ApiError("SYNC.TOO_MANY_ITEMS", String(length));
  if (!whole.Check(sent)) {
    const errors = ruleFaults(whole, sent, FAULTS_MAX).map(({ path, rule, expected, got }) => ({
      field: path,
      code: rule === "required" ? "missing" : rule === "additionalProperties" ? "unknown_field" : "invalid",
      message: `${path || "the body"} is ${rule === "required" ? "missing" : got}, expected ${expected}`,
    }));
    throw new ApiError("SYNC.INVALID_BODY", errors.map(({ message }) => message).join("; "), { details: { errors } });
  }
  if (sent.mode === "full") throw new ApiError("SYNC.FULL_NOT_SUPPORTED");
  return sent;
}

const FAULTS_MAX = 10;

/** Header of the client (draft-ietf-httpapi-idempotency-key-header): an id of the request, the same when it is sent again. */
function idOf({ headers }: FastifyRequest): string | null {
  const { "idempotency-key": sent } = headers;
  if (sent === undefined) return null;
  const id = /^"?([\w-]{16,64})"?$/.exec(String(sent))?.[1];
  if (id !== undefined) return id;
  const got = printable(String(sent).slice(0, 64));
  throw new ApiError("REQUEST.MALFORMED", `Idempotency-Key is ${got}, expected 16 to 64 letters, digits, - or _.`);
}

async function answerOnce(
  session: Session,
  { id, keyId, requestDigest, now }: Asked,
  work: (session: Session) => Promise<SyncAnswer>,
): Promise<Answer> {
  if (id === null) return work(session);
  const idDigest = digestOf(id);
  const kept = await findAnswer(session, { keyId, idDigest, now });
  if (kept !== undefined) {
    if (kept.requestDigest !== requestDigest) throw new ApiError("SYNC.ID_REUSED");
    return { ...(JSON.parse(kept.answer) as SyncAnswer), isRepeated: true };
  }
  const answer = await work(session);
  await keepAnswer(session, { keyId, idDigest, requestDigest, answer: JSON.stringify(answer) }, now);
  return answer;
}

type Answer = SyncAnswer & { isRepeated?: true };

function answerOf({ items, stateDigest }: SyncResult, asked: Asked): SyncAnswer {
  const token = digestOf(asked.bodyDigest, stateDigest);
  if (asked.token !== null && asked.token !== token) throw new ApiError("SYNC.STATE_MOVED");
  const countOf = (wanted: string) => items.filter(({ outcome }) => outcome === wanted).length;
  const counts = Object.fromEntries(syncOutcomes.map((outcome) => [outcome, countOf(outcome)]));
  const shown = items.map((item) => (asked.dryRun && item.outcome === "created" ? unstored(item) : item));
  return {
    dry_run: asked.dryRun,
    commit_token: asked.dryRun ? token : null,
    counts: counts as SyncAnswer["counts"],
    items: shown,
  };
}

/** Leaves out what a dry run only made up. */
function unstored(item: SyncAnswer["items"][number]): SyncAnswer["items"][number] {
  return { ...item, fp: null, ...("accession" in item && { accession: null }) };
}

/** Carries a result out of a transaction that is rolled back. */
class RolledBack extends Error {
  readonly result: unknown;

  constructor(result: unknown) {
    super("a dry run stores nothing");
    this.result = result;
  }
}

/** Runs the work as it would run, and rolls it back. */
async function rolledBack<T>(
  transaction: (work: (session: Session) => Promise<never>) => Promise<never>,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  try {
    return await transaction(async (session) => {
      throw new RolledBack(await work(session));
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.result as T;
    throw error;
  }
}

function send(reply: FastifyReply, { isRepeated, ...answer }: Answer): SyncAnswer {
  if (isRepeated === true) reply.header("idempotency-replayed", "true");
  return answer;
}

function digestOf(...parts: readonly string[]): string {
  return createHash("sha256").update(parts.join("\n")).digest("hex");
}
