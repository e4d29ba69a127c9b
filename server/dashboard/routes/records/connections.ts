import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { AskedConnection, ConnectionAnswer, ConnectionList } from "../../types/connections.ts";
import { ApiError } from "../../../http/errors.ts";
import { answerConnection, listOwnRequests } from "../../../records/patients/connection-answers.ts";
import { askConnection, closeConnection } from "../../../records/patients/patient-connections.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse } from "../../refuse.ts";
import { actorOf } from "../commands.ts";
import { found, patientFp } from "./patients.ts";

// The clinic's connections to patients of other clinics, and requests of others to it. A waiting request gets the same response
// for an fp that does not exist: the response reveals neither the patient nor its clinic.

const openBody = bodyReader({ consent: Type.Literal(true) });

const PATIENT = "/clinic/v1/clinics/:clinic/patients/:fp";
const answers: readonly ConnectionAnswer[] = ["confirm", "refuse", "end", "seen"];

export function connectionRoutes(app: FastifyInstance, context: DashboardContext): void {
  ownRoutes(app, context);
  answerRoutes(app, context);
}

function ownRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.get(
    "/clinic/v1/clinics/:clinic/connections",
    { config: { access: "reader" } },
    async (request): Promise<ConnectionList> => ({
      requests: await listOwnRequests(store, clinicOf(request).id, now()),
    }),
  );
  const url = `${PATIENT}/connection`;
  app.put(url, { config: { access: "staff" } }, async (request): Promise<AskedConnection> => {
    openBody(request.body);
    const fp = patientFp(request);
    const asked = found(await store.transaction((session) => askConnection(session, fp, actorOf(request, now()))));
    if ("problem" in asked) refuse(asked.problem);
    return asked;
  });
  app.delete(url, { config: { access: "staff" } }, async (request): Promise<AskedConnection> => {
    const fp = patientFp(request);
    return found(await store.transaction((session) => closeConnection(session, fp, actorOf(request, now()))));
  });
}

/** Whoever may request may also confirm: both vouch for the consent of the owner. */
function answerRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  for (const answer of answers) {
    app.post<{ Params: { other: string } }>(
      `${PATIENT}/other-clinics/:other/${answer}`,
      { config: { access: "staff" } },
      async (request) => {
        const { other: clinicFp } = request.params;
        const wanted = { fp: patientFp(request), clinicFp, answer };
        const problem = await store.transaction((session) =>
          answerConnection(session, wanted, actorOf(request, now())),
        );
        if (problem === undefined) throw new ApiError("RECORD.NOT_FOUND", "This request");
        if (problem !== null) refuse(problem);
        return {};
      },
    );
  }
}
