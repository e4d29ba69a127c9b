import fs from "node:fs";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { FRAMES_HEADER, type LocalImages, PICTURE_SIDES } from "../types/images.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import type { Host } from "../../host.ts";
import { type DrawableImage, drawableImages } from "../../imaging/catalogue.ts";
import { FileFault } from "../../imaging/files/confined-files.ts";
import { imageFile } from "../../imaging/files/image-folder.ts";
import { newestImageStudies } from "../../imaging/image-studies.ts";
import { drawPreview } from "../../imaging/preview.ts";
import { readSpool } from "../../spool/access.ts";
import { PageError } from "./page-error.ts";
import { runningAgent } from "./running-agent.ts";
import { Turns } from "./turns.ts";

/** Adds the newest studies of images, a picture of each frame, which a process with limits draws, and the original files. */
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
      const image = storedImage(data, id);
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

  // The id is one of the spool's own, so that no name of a device is in the path.
  app.get<{ Params: { id: string } }>("/local/v1/images/:id/original", async ({ params: { id } }, reply) => {
    const { data } = runningAgent(host).config;
    const file = await fs.promises.open(imageFile(data, storedImage(data, id).id)).catch(missing);
    const { size } = await file.stat();
    return reply
      .type("application/dicom")
      .header("content-length", size)
      .header("content-disposition", `attachment; filename="${id.replace(/[^A-Za-z0-9-]/g, "_")}.dcm"`)
      .send(file.createReadStream());
  });
}

/** @throws PageError without its file */
function storedImage(data: string, id: string): DrawableImage {
  return readSpool(data, (db) => drawableImages(db, id)).find((one) => one.id === id) ?? missing();
}

function missing(): never {
  throw new PageError(404, "the agent has no file of this image: it removes old ones, so look in the archive");
}
