import type { FastifyInstance } from "fastify";
import { ApiError } from "../http/errors.ts";
import { openReleaseFile } from "../releases/release-folder.ts";
import type { RouteContext } from "./context.ts";

/** GET /agent/v1/releases/{file}: an archive of the agent or its signature, by which the agent knows whether to trust it. */
export function releaseRoutes(app: FastifyInstance, { releaseFolder }: RouteContext): void {
  app.route<{ Params: { file: string } }>({
    method: "GET",
    url: "/agent/v1/releases/:file",
    config: { header: "x-api-key", permissions: ["clinic.lab.ingest"], budget: "directory" },
    handler: async (request, reply) => {
      const found = await openReleaseFile(releaseFolder, request.params.file);
      if (found === undefined) throw new ApiError("RECORD.NOT_FOUND", "This release");
      reply.header("content-length", found.bytes).type("application/octet-stream");
      return reply.send(found.file.createReadStream());
    },
  });
}
