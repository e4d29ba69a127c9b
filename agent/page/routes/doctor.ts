import type { FastifyInstance } from "fastify";
import type { DoctorBody, TitledFinding } from "../types/doctor.ts";
import { makeBundle } from "../../doctor/bundle.ts";
import { runDoctor } from "../../doctor/run-doctor.ts";
import type { Host } from "../../host.ts";

/** Adds the doctor, and its file for the support. Requests at the same time share one run. */
export function doctorRoutes(app: FastifyInstance, host: Host): void {
  const context = { configFile: host.file, isOffline: false };
  let running: Promise<readonly TitledFinding[]> | null = null;
  const run = () => {
    running ??= runDoctor(context).finally(() => (running = null));
    return running;
  };
  app.get("/local/v1/doctor", async (): Promise<DoctorBody> => ({ findings: await run() }));
  app.get("/local/v1/doctor/bundle", async (_request, reply) => {
    const zip = Buffer.from(makeBundle(context, await run()));
    return reply
      .headers({
        "content-type": "application/zip",
        "content-disposition": 'attachment; filename="vetwire-doctor.zip"',
      })
      .send(zip);
  });
}
