import type { FastifyInstance } from "fastify";
import type { StudyPreview } from "../../types/results/previews.ts";
import { ApiError } from "../../../http/errors.ts";
import { listPreviews, readPreview } from "../../../records/results/previews.ts";
import { clinicOf } from "../../auth/guard.ts";
import type { DashboardContext } from "../../context.ts";

// The small pictures of a study of images.

export function previewRoutes(app: FastifyInstance, { store }: DashboardContext): void {
  const url = "/clinic/v1/clinics/:clinic/results/:fp/previews";
  app.get<{ Params: { fp: string } }>(
    url,
    { config: { access: "reader" } },
    async (request): Promise<{ previews: StudyPreview[] }> => {
      const previews = await listPreviews(store, clinicOf(request).id, request.params.fp);
      if (previews === undefined) throw new ApiError("RECORD.NOT_FOUND", "This study");
      return { previews };
    },
  );
  app.get<{ Params: { fp: string; position: string }; Querystring: { frame?: string } }>(
    `${url}/:position`,
    { config: { access: "reader" } },
    async (request, reply) => {
      const { fp, position } = request.params;
      const index = /^[1-9]\d?$/.test(position) ? Number(position) : 0;
      const { frame } = request.query;
      const number = frame === undefined ? null : /^[1-9]\d?$/.test(frame) ? Number(frame) : 0;
      const png = await readPreview(store, clinicOf(request).id, fp, index, number);
      if (png === undefined) throw new ApiError("RECORD.NOT_FOUND", "This picture");
      return reply.type("image/png").send(png);
    },
  );
}
