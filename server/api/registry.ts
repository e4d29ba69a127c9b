import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { REGISTRY_CHANGES_MAX, RegistryOutcome } from "../../shared/api/agent/registry.ts";
import { problems } from "../../shared/schema/problems.ts";
import { textForm } from "../../shared/schema/text-form.ts";
import { ApiError } from "../http/errors.ts";
import { keyOf } from "../http/request-context.ts";
import { storeChanges } from "../records/registry/sync/changes.ts";
import type { RouteContext } from "./context.ts";
import { FAULTS_MAX, faultList } from "./pushed-study.ts";

// Animals, owners, merges and orders of practice software, which agents bring: POST /agent/v1/registry.

/** The parts around the changes, which are checked one by one. */
const body = Compile(
  Type.Object({
    source: Type.String({ pattern: textForm("^[\\w.-]{1,64}$", "1 to 64 letters, digits, dots, - or _") }),
    changes: Type.Array(Type.Object({ id: Type.Integer({ minimum: 0 }) }), { maxItems: REGISTRY_CHANGES_MAX }),
  }),
);

interface Body {
  readonly source: string;
  readonly changes: readonly { readonly id: number; readonly kind?: unknown }[];
}

const Outcomes = Type.Object({ outcomes: Type.Array(RegistryOutcome) });
const access = { header: "x-api-key", permissions: ["clinic.lab.ingest"], budget: "ingest" } as const;

/** One outcome for each change, in order. The changes are stored together, so that a repeated request finds all of them or none. */
export function registryRoute(app: FastifyInstance, { store, now }: Pick<RouteContext, "store" | "now">): void {
  app.post("/agent/v1/registry", { config: access, schema: { response: { 200: Outcomes } } }, async (request) => {
    if (!body.Check(request.body)) {
      throw new ApiError("REQUEST.INVALID_BODY", `${faultList(problems(body, request.body, FAULTS_MAX))}.`);
    }
    const { source, changes } = request.body as Body;
    const { id: keyId, clinic_id: clinicId } = keyOf(request);
    const at = now();
    const by = { requestId: request.id, keyId, address: request.ip };
    const asked = { clinicId, source, items: changes, now: at, clock: () => at, by };
    return { outcomes: await store.transaction((session) => storeChanges(session, asked), { repeatable: true }) };
  });
}
