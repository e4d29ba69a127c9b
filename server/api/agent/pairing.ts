import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { reasonOf } from "../../../shared/api/reason.ts";
import { Paired, PairBody, readCode } from "../../../shared/api/agent/pairing.ts";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import { textProblems, problems } from "../../../shared/schema/problems.ts";
import { isWellFormedKey } from "../../../shared/runtime/api-key.ts";
import { ACTIVE_KEYS_MAX, KeyRefused } from "../../http/auth/api-keys.ts";
import { unauthorized } from "../../http/auth/authorization.ts";
import { pairAgent, type ShownCode } from "../../http/auth/pairing.ts";
import type { PairingLimit } from "../../http/auth/pairing-limit.ts";
import { ApiError } from "../../http/errors.ts";
import { parseJsonBodies } from "../../http/json-body.ts";
import { FAULTS_MAX, faultList } from "./pushed-study.ts";
import type { RouteContext } from "../context.ts";

// POST /agent/v1/pair: the one route of agents that takes a code in place of a known key.

const body = compileLater(PairBody);

/** Longest body: a code and a name. */
const BODY_BYTES_MAX = 4096;

export interface PairingContext extends Pick<RouteContext, "store" | "now"> {
  /** The secret of the digests. */
  readonly pepper: Buffer;
  readonly countTry: PairingLimit;
  /** Knows the certificate that PCs get. */
  readonly network: { readonly pin: string | null } | null;
}

export function pairingRoutes(app: FastifyInstance, { store, now, pepper, countTry, network }: PairingContext): void {
  parseJsonBodies(app);
  app.post(
    "/agent/v1/pair",
    {
      bodyLimit: BODY_BYTES_MAX,
      schema: { response: { 200: Type.Object({ success: Type.Literal(true), data: Paired }) } },
    },
    async (request) => {
      await countTry(request.ip, now());
      const key = request.headers["x-api-key"];
      if (typeof key !== "string" || !isWellFormedKey(key)) throw unauthorized("x-api-key");
      const faults = body.Check(request.body) ? textProblems(request.body) : problems(body, request.body, FAULTS_MAX);
      if (faults.length > 0) throw new ApiError("REQUEST.INVALID_BODY", `${faultList(faults)}.`);
      const { name, ...shown } = request.body as PairBody;
      const outcome = await refusedAsError(
        pairAgent(store, pepper, {
          shown: shownCode(shown, network?.pin ?? null),
          ...{ name, key, address: request.ip, now: now() },
        }),
      );
      if (outcome === "wrong") throw new ApiError("PAIRING.WRONG_CODE");
      if (outcome === "ended") throw new ApiError("PAIRING.CODE_ENDED");
      return { success: true, data: outcome };
    },
  );
}

/** @throws ApiError for a proof of another certificate than this server's */
function shownCode({ code: typed = "", proof }: Omit<PairBody, "name">, pin: string | null): ShownCode {
  if (proof !== undefined) {
    if (proof.pin === pin) return proof;
    throw new ApiError("PAIRING.OTHER_CERTIFICATE", `${proof.pin}, and this server has ${pin ?? "none"}`);
  }
  const code = readCode(typed);
  if (code === null) throw new ApiError("PAIRING.WRONG_CODE");
  return { code };
}

async function refusedAsError<T>(paired: Promise<T>): Promise<T> {
  try {
    return await paired;
  } catch (error) {
    if (!(error instanceof KeyRefused)) throw error;
    const remedy = "Revoke one at the dashboard under Settings, Developer, API keys, and pair again.";
    const words = `The clinic has as many keys as it may have. ${remedy}`;
    throw new ApiError("RECORD.REFUSED", words, { details: { ...reasonOf("KEY.TOO_MANY", String(ACTIVE_KEYS_MAX)) } });
  }
}
