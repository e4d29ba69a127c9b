import type { FastifyInstance } from "fastify";
import { ApiError } from "../../http/errors.ts";
import { openReleaseFile } from "../../operations/release-folder.ts";
import type { RouteContext } from "../context.ts";

/** GET /agent/v1/releases/{file}: an archive of the agent or its signature, by which the agent knows whether to trust it. */
export function releaseRoutes(app: FastifyInstance, { releaseFolder }: RouteContext): void {
  app.get<{ Params: { file: string } }>(
    "/agent/v1/releases/:file",
    { config: { header: "x-api-key", permissions: ["clinic.lab.ingest"], budget: "directory" } },
    async (request, reply) => {
      const found = await openReleaseFile(releaseFolder, request.params.file);
      if (found === undefined) throw new ApiError("RECORD.NOT_FOUND", "This release");
      const { file, bytes } = found;
      const start = firstByte(request.headers.range, bytes);
      if (start > 0) reply.code(206).header("content-range", `bytes ${start}-${bytes - 1}/${bytes}`);
      reply.header("content-length", bytes - start).type("application/octet-stream");
      return reply.send(file.createReadStream({ start }));
    },
  );
}

/** Reads the range of a download that goes on, such as `bytes=1000-`. Any other range gets the complete file (RFC 9110, 14.2). */
function firstByte(range: string | undefined, bytes: number): number {
  const start = Number(/^bytes=(\d{1,12})-$/.exec(range ?? "")?.[1] ?? 0);
  return start < bytes ? start : 0;
}
