import { createHash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { printable } from "../../../shared/runtime/printable.ts";
import { type Check, compileLater } from "../../../shared/schema/compile-later.ts";
import { ruleFaults } from "../../../shared/schema/problems.ts";
import { ApiError } from "../../http/errors.ts";
import { readParameters, text, yesOrNo } from "../../http/query-parameters.ts";
import { keyOf } from "../../http/request-context.ts";
import type { Session } from "../../database/query.ts";
import { rolledBack } from "../../database/store.ts";
import { findAnswer, keepAnswer } from "../../records/registry/sync/answers.ts";
import {
  NAMED_ABSENT_MAX,
  SYNC_ITEMS_MAX,
  type SyncAnswer,
  syncOutcomes,
} from "../../records/registry/sync/messages.ts";
import type { SyncRequest, SyncResult } from "../../records/registry/sync/request.ts";
import type { RouteContext } from "../context.ts";

// A request with items to /sync/v1: its body, dry run and repetitions.

/** The parameters of the operations. `confirm_removals` is of patients and appointments alone, which have full lists. */
export const syncParameters = {
  dry_run: yesOrNo("Stores nothing, and returns what would become of each item."),
  commit_token: text("The `commit_token` of a dry run of the same body. Refused if the outcomes would differ by now."),
  confirm_removals: yesOrNo(
    "Removes more than a tenth of the records of the source, because the full list lacks them. Needs `commit_token`.",
  ),
};

/** How the items of a route are read and stored. */
interface Door<Item> {
  /** Checks the parts around the items. */
  readonly body: Check;
  readonly read: (items: readonly unknown[], now: number) => Item[];
  readonly store: (session: Session, request: SyncRequest<Item>) => Promise<SyncResult>;
}

export type SyncContext = Pick<RouteContext, "store" | "now">;

export function handler<Item>(door: Door<Item>, { store, now }: SyncContext) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<SyncAnswer> => {
    const asked = readRequest(request, door, now());
    const read = { ...asked, items: door.read(asked.items, asked.now) };
    const work = async (session: Session) => answerOf(await door.store(session, read), asked);
    const answer = asked.dryRun
      ? await rolledBack(store, work)
      : await store.transaction((session) => answerOnce(session, asked, work), { repeatable: true });
    return send(reply, answer);
  };
}

type Asked = ReturnType<typeof readRequest>;

function readRequest(request: FastifyRequest, { body }: Pick<Door<never>, "body">, now: number) {
  const {
    dry_run: dryRun,
    commit_token: token,
    confirm_removals: isConfirmed,
  } = readParameters(request, syncParameters);
  if (isConfirmed && !dryRun && token === null) {
    const rule = "the commit_token of a dry run beside it";
    const details = { parameter: "confirm_removals", value: "true", rule };
    throw new ApiError("REQUEST.INVALID_PARAMETER", `confirm_removals is true, expected ${rule}.`, { details });
  }
  const { source, items, ...list } = readBody(request.body, body);
  const { id: keyId, clinic_id: clinicId } = keyOf(request);
  return {
    ...{ dryRun, token, isConfirmed, source, clinicId, now, keyId },
    items,
    full: fullListOf(list, items),
    clock: () => now,
    by: { requestId: request.id, keyId, address: request.ip },
    bodyDigest: digestOf(JSON.stringify(request.body)),
    id: idOf(request),
    requestDigest: digestOf(request.url, JSON.stringify(request.body)),
  };
}

/** The parts around the items, which are checked one by one. */
export function bodyAround(body: { readonly properties: Type.TProperties }) {
  const around = { ...body.properties, items: Type.Array(Type.Unknown()) };
  return compileLater(Type.Object(around, { additionalProperties: false }));
}

interface Body {
  readonly source: string;
  readonly items: readonly unknown[];
  readonly mode: "partial" | "full";
  readonly all?: readonly string[];
}

function readBody(sent: unknown, body: Check): Body {
  const given = sent as { items?: unknown } | null;
  const length = Array.isArray(given?.items) ? given.items.length : 0;
  if (length > SYNC_ITEMS_MAX) throw new ApiError("SYNC.TOO_MANY_ITEMS", String(length));
  checkBody(body, sent);
  return sent as Body;
}

/** @throws ApiError with the faults of a body */
export function checkBody(body: Check, sent: unknown): void {
  if (body.Check(sent)) return;
  refuseBody(
    ruleFaults(body, sent, FAULTS_MAX).map(({ path, rule, expected, got }) => ({
      field: path,
      code: rule === "required" ? "missing" : rule === "additionalProperties" ? "unknown_field" : "invalid",
      message: `${path || "the body"} is ${rule === "required" ? "missing" : got}, expected ${expected}`,
    })),
  );
}

function refuseBody(errors: readonly { field: string; code: string; message: string }[]): never {
  throw new ApiError("SYNC.INVALID_BODY", errors.map(({ message }) => message).join("; "), { details: { errors } });
}

/** Returns the external ids of a full list; null for a partial one. */
function fullListOf({ mode, all }: Pick<Body, "mode" | "all">, items: readonly unknown[]): ReadonlySet<string> | null {
  if (mode === "partial") {
    if (all === undefined) return null;
    return refuseBody([{ field: "all", code: "invalid", message: "all is a list, expected it with mode full alone" }]);
  }
  const ids = items.map((item) => (item as { external_id?: unknown } | null)?.external_id);
  const unread = ids.findIndex((id) => typeof id !== "string");
  // Such an item may be any record, which must not be removed.
  if (unread >= 0 && all === undefined) {
    const field = `items/${unread}/external_id`;
    refuseBody([
      { field, code: "invalid", message: `${field} is not a text, expected one in each item of a full list` },
    ]);
  }
  return new Set([...(all ?? []), ...ids.filter((id) => typeof id === "string")]);
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

/** A full list removes at most one of so many records without a confirmation. */
const REMOVED_SHARE = 10;

function answerOf({ items, stateDigest, absence }: SyncResult, asked: Asked): SyncAnswer {
  const removed = absence?.removed ?? [];
  const token = digestOf(asked.bodyDigest, stateDigest, JSON.stringify(removed));
  if (asked.token !== null && asked.token !== token) throw new ApiError("SYNC.STATE_MOVED");
  if (absence !== undefined && removed.length * REMOVED_SHARE > absence.known && !asked.dryRun && !asked.isConfirmed) {
    const details = { removals: removed.length, [absence.of]: absence.known };
    const share = `${removed.length} of ${absence.known} ${absence.of}, at most a tenth without confirm_removals`;
    throw new ApiError("SYNC.TOO_MANY_REMOVALS", share, { details });
  }
  const countOf = (wanted: string) => items.filter(({ outcome }) => outcome === wanted).length;
  const counts = Object.fromEntries(syncOutcomes.map((outcome) => [outcome, countOf(outcome)]));
  counts["deleted"] = (counts["deleted"] ?? 0) + removed.length;
  const shown = items.map((item) => (asked.dryRun && item.outcome === "created" ? unstored(item) : item));
  return {
    dry_run: asked.dryRun,
    commit_token: asked.dryRun ? token : null,
    counts: counts as SyncAnswer["counts"],
    items: shown,
    ...(absence === undefined ? {} : { absent: removed.slice(0, NAMED_ABSENT_MAX) }),
  };
}

/** Leaves out what a dry run only made up. */
function unstored(item: SyncAnswer["items"][number]): SyncAnswer["items"][number] {
  return { ...item, fp: null, ...("accession" in item && { accession: null }) };
}

function send(reply: FastifyReply, { isRepeated, ...answer }: Answer): SyncAnswer {
  if (isRepeated === true) reply.header("idempotency-replayed", "true");
  return answer;
}

function digestOf(...parts: readonly string[]): string {
  return createHash("sha256").update(parts.join("\n")).digest("hex");
}
