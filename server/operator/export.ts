import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { bodyReader } from "../dashboard/body.ts";
import { refuse } from "../dashboard/refuse.ts";
import { refusal } from "../dashboard/types/refusals.ts";
import { exportLines } from "../import/export-lines.ts";
import { auditCommand } from "../records/audit/audit.ts";
import type { ClinicState } from "../records/clinics/clinics.ts";
import { type OperatorContext, Reason } from "./context.ts";
import { clinicIn, operatorOf } from "./guard.ts";

// The export of a clinic, as `server export --clinic` writes it. It goes from the rows to the browser: the server keeps no file with
// names and phones.

const exportBody = bodyReader({ reason: Reason });

/** Adds the route. One export at a time: each holds a snapshot of the database and reads a complete clinic. */
export function exportRoute(app: FastifyInstance, { store, now, logger }: OperatorContext): void {
  let isRunning = false;

  /** Notes the export in the audit before its first byte, which may be the only one that leaves. */
  const note = (request: FastifyRequest, reason: string): Promise<ClinicState> =>
    store.transaction(async (session) => {
      const clinic = await clinicIn(session, request);
      await auditCommand(session, `clinics export: ${reason}`, [clinic.fp], operatorOf(request, now(), clinic.id));
      return clinic;
    });

  /** Writes the file. A client that leaves ends it, and so does an error, which cuts the response off. */
  const write = async (clinic: ClinicState, file: PassThrough): Promise<void> => {
    try {
      await store.snapshot((session) => {
        const lines = exportLines(session, clinic.id, { clinicFp: clinic.fp, ownerFp: null });
        return pipeline(Readable.from(lines), file);
      });
    } catch (error) {
      logger.warn({ reason: errorMessage(error) }, "the export of a clinic ended before its last line");
      file.destroy();
    }
  };

  app.post("/operator/v1/clinics/:clinic/export", { config: { access: "signed in" } }, async (request, reply) => {
    const { reason } = exportBody(request.body);
    if (isRunning) refuse(refusal("CLINIC.IS_EXPORTED"));
    isRunning = true;
    const end = () => (isRunning = false);
    const clinic = await note(request, reason.trim()).catch((error: unknown) => {
      end();
      throw error;
    });
    const file = new PassThrough();
    void write(clinic, file).finally(end);
    const name = `${clinic.fp}-${new Date(now()).toISOString().slice(0, 10)}.ndjson`;
    return reply
      .headers({
        "content-type": "application/x-ndjson; charset=utf-8",
        "content-disposition": `attachment; filename="${name}"`,
      })
      .send(file);
  });
}
