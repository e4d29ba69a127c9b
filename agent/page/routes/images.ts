import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { FRAMES_HEADER, type LocalImages, PICTURE_SIDES } from "../types/images.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import type { Host } from "../../host.ts";
import { drawableImages } from "../../imaging/catalogue.ts";
import { FileFault } from "../../imaging/files/confined-files.ts";
import { imageFile } from "../../imaging/files/image-folder.ts";
import { newestImageStudies } from "../../imaging/image-studies.ts";
import { drawPreview } from "../../imaging/preview.ts";
import { readSpool } from "../../spool/access.ts";
import { PageError } from "./page-error.ts";
import { runningAgent } from "./running-agent.ts";
import { Turns } from "./turns.ts";

/** Adds the newest studies of images, and a picture of each frame. A process with limits draws it. */
export function imageRoutes(app: FastifyInstance, host: Host): void {
  app.get("/local/v1/images", (): LocalImages => readSpool(runningAgent(host).config.data, newestImageStudies));

  const turns = new Turns();
  app.get<{ Params: { id: string }; Querystring: { frame: number; side: number } }>(
    "/local/v1/images/:id/preview",
    {
      schema: {
        querystring: Type.Object({
          frame: Type.Integer({ minimum: 1, maximum: 0x7fff_ffff, default: 1 }),
          side: Type.Enum(Object.values(PICTURE_SIDES), { default: PICTURE_SIDES.small }),
        }),
      },
    },
    async ({ params: { id }, query: { frame, side: sideMax } }, reply) => {
      const { data } = runningAgent(host).config;
      const image = readSpool(data, (db) => drawableImages(db, id)).find((one) => one.id === id);
      if (image === undefined) {
        throw new PageError(404, "the agent has no file of this image: it removes old ones, so look in the archive");
      }
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      const { headerBytes, transferSyntax } = image;
      const request = { file: imageFile(data, id), headerBytes, transferSyntax, frame, sideMax };
      const { png, frames } = await turns.take(gone.signal, () =>
        drawPreview(request, gone.signal).catch((error: unknown) => {
          throw new PageError(422, errorMessage(error), error instanceof FileFault ? error.code : undefined);
        }),
      );
      return reply.type("image/png").header(FRAMES_HEADER, String(frames)).send(Buffer.from(png));
    },
  );
}
