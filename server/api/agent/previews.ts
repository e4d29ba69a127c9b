import type { FastifyInstance } from "fastify";
import { isFp } from "../../../shared/api/fp.ts";
import { PREVIEW_BYTES_MAX, type PreviewOutcome, PREVIEWS_MAX } from "../../../shared/api/agent/preview.ts";
import { readPngSize } from "../../records/results/png-size.ts";
import { splitPng } from "../../records/results/png-frames.ts";
import { ApiError } from "../../http/errors.ts";
import { keyOf } from "../../http/request-context.ts";
import { storePreview } from "../../records/results/previews.ts";
import type { RouteContext } from "../context.ts";

// PUT /agent/v1/previews/{fp}/{position}: the agent's small pictures of the images that it filed.

const preview = { header: "x-api-key", permissions: ["clinic.lab.ingest"], budget: "preview" } as const;

/** Reads the position of an image in its study: 1 to PREVIEWS_MAX. @returns undefined for any other text */
function readPosition(text: string): number | undefined {
  const position = /^[1-9]\d?$/.test(text) ? Number(text) : 0;
  return position >= 1 && position <= PREVIEWS_MAX ? position : undefined;
}

/** Register it in a scope of its own: its bodies are PNG, not JSON. */
export function previewRoutes(app: FastifyInstance, { store, now }: RouteContext): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("image/png", { parseAs: "buffer" }, async (_request: unknown, body: Buffer) => body);
  app.put<{ Params: { fp: string; position: string } }>(
    "/agent/v1/previews/:fp/:position",
    { config: preview, bodyLimit: PREVIEW_BYTES_MAX },
    async (request) => {
      const { fp } = request.params;
      const position = readPosition(request.params.position);
      if (position === undefined || !isFp("cds", fp)) throw new ApiError("RECORD.NOT_FOUND", "This image");
      if (!Buffer.isBuffer(request.body)) throw new ApiError("REQUEST.INVALID_BODY", "The body is missing.");
      const png = request.body;
      const rejected = (reason: string): PreviewOutcome => ({ fp, position, outcome: "rejected", reason });
      const size = readPngSize(png);
      if ("problem" in size) return rejected(size.problem);
      const clip = splitPng(png);
      if ("problem" in clip) return rejected(clip.problem);
      const clinicId = keyOf(request).clinic_id;
      const frames = clip.frames.length;
      const wanted = { clinicId, fp, position, png: png.toString("base64"), ...size, frames, now: now() };
      const isStored = await store.transaction((session) => storePreview(session, wanted));
      if (!isStored) return rejected("no agent of this clinic has sent this study");
      return { fp, position, outcome: "stored", reason: null } satisfies PreviewOutcome;
    },
  );
}
