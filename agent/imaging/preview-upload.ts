import { isPictureFault } from "../page/types/images.ts";
import { PREVIEW_BYTES_MAX, PREVIEW_SIDE_MAX, PreviewOutcome, previewPath } from "../../shared/api/agent/preview.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { DeliveryLoop, type DeliveryEvents, type DeliveryTiming } from "../runtime/delivery-loop.ts";
import { SendError } from "../runtime/send-error.ts";
import type { QueuedPreview } from "../spool/queries/images/previews.ts";
import type { Spool } from "../spool/spool.ts";
import { Tries } from "../spool/tries.ts";
import { FileFault } from "./files/confined-files.ts";
import { clipFrames } from "./files/clip.ts";
import { imageFile } from "./files/image-folder.ts";
import { withFrames } from "./files/png.ts";
import type { PreviewRequest } from "./files/render-frame.ts";
import { drawPreview } from "./preview.ts";

// Sends a small picture of each image to the server, one at a time, once the server has the study. Results always go first.

/** Wait before the next request to a server without the route. It may have been upgraded. */
const OLD_SERVER_MS = 60 * 60_000;

/** Max pixels of a side, in turn, until the picture fits into one request. Noise in colours compresses badly. */
const SIDES = [PREVIEW_SIDE_MAX, PREVIEW_SIDE_MAX / 2, PREVIEW_SIDE_MAX / 4];

/** Sends a PNG to a path of the server. @returns the response; null if the server lacks the route @throws SendError */
type PutPicture = (path: string, png: Uint8Array) => Promise<unknown>;

const outcome = compileLater(PreviewOutcome);

export class PreviewUpload {
  readonly #data: string;
  readonly #spool: Spool;
  readonly #put: PutPicture;
  readonly #loop: DeliveryLoop;
  readonly #tries: Tries;
  readonly #stopping = new AbortController();
  #resumesAt = Number.NEGATIVE_INFINITY;

  constructor(data: string, spool: Spool, put: PutPicture, events: DeliveryEvents, timing: DeliveryTiming) {
    this.#data = data;
    this.#spool = spool;
    this.#put = put;
    this.#tries = new Tries(spool, "draw");
    this.#loop = new DeliveryLoop(() => this.#sendNext(), events, timing);
  }

  /** Sends the queued pictures. */
  wake(): void {
    this.#loop.wake();
  }

  /** Stops after the request under way. A picture that is being drawn is given up. */
  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#loop.stop();
  }

  /** Sends one picture. @returns false if none is queued, if results wait, or if the server is an older one */
  async #sendNext(): Promise<boolean> {
    if (performance.now() < this.#resumesAt) return false;
    if ((await this.#spool.call("outbox")).depth > 0) return false;
    const next = await this.#spool.call("nextPreview");
    if (next === null || this.#loop.stopped) return false;
    const item = `${next.fp} ${next.message}`;
    if (!(await this.#tries.begin(item))) {
      await this.#spool.call(
        "settlePreview",
        next,
        "undrawable",
        isPictureFault(next.reason) ? next.reason : "IMAGE.ENDED",
      );
      this.#tries.end(item);
      return true;
    }
    const png = await this.#draw(next);
    if (png instanceof FileFault) {
      await this.#spool.call("delayPreview", next, png.code); // the mark stays
      return true;
    }
    this.#tries.end(item);
    if (this.#loop.stopped) return false;
    if (typeof png === "string") {
      await this.#spool.call("settlePreview", next, "undrawable", png);
      return true;
    }
    return this.#send(next, png);
  }

  async #send(next: QueuedPreview, png: Uint8Array): Promise<boolean> {
    try {
      const answer = await this.#put(previewPath(next.fp, next.position), png);
      if (answer === null) {
        this.#resumesAt = performance.now() + OLD_SERVER_MS;
        return false;
      }
      const isVerdict = outcome.Check(answer) && answer.fp === next.fp && answer.position === next.position;
      if (!isVerdict) throw new SendError("uncertain", "invalid response: expected the outcome of the picture");
      if (answer.outcome === "stored") await this.#spool.call("settlePreview", next, "sent", null);
      else await this.#spool.call("settlePreview", next, "refused", answer.reason);
      this.#loop.succeeded();
      return true;
    } catch (error) {
      // The picture moves to the end of the queue, in case it breaks the server.
      await this.#spool.call("delayPreview", next, errorMessage(error));
      throw error;
    }
  }

  /** Draws the first frame, and a clip's further frames. @returns the reason if there is no picture, the fault if the drawing never ends */
  async #draw({ message, headerBytes, transferSyntax }: QueuedPreview): Promise<Uint8Array | string | FileFault> {
    const image = { file: imageFile(this.#data, message), headerBytes, transferSyntax, frame: 1 };
    try {
      for (const sideMax of SIDES) {
        const { png, frames } = await drawPreview({ ...image, sideMax }, this.#stopping.signal);
        if (png.length > PREVIEW_BYTES_MAX) continue;
        if (frames === 1) return png;
        return withFrames(png, await this.#clip(image, frames, PREVIEW_BYTES_MAX - png.length));
      }
      return "the picture is too large";
    } catch (error) {
      return error instanceof FileFault ? error : errorMessage(error);
    }
  }

  /** The frames of a clip that can be drawn. A frame whose drawing never ends ends the clip, and costs no other picture. */
  async #clip(image: Omit<PreviewRequest, "sideMax">, total: number, bytesMax: number): Promise<Uint8Array[]> {
    let isBroken = false;
    return clipFrames(total, bytesMax, async (frame, sideMax) => {
      if (isBroken || this.#loop.stopped) return null;
      try {
        return (await drawPreview({ ...image, frame, sideMax }, this.#stopping.signal)).png;
      } catch (error) {
        isBroken = error instanceof FileFault;
        return null;
      }
    });
  }
}
