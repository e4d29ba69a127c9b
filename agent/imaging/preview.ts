import type { Preview, PreviewAnswer, PreviewRequest } from "./render-frame.ts";
import { startWorker } from "../runtime/start-worker.ts";

/** The largest frames take some seconds. */
const TIME_MS_MAX = 20_000;
const MEMORY_MB_MAX = 512;

/** Draws one frame of an instance in a thread of its own, which is ended when it takes too long. @throws with the reason why not */
export function drawPreview(request: PreviewRequest, timeMs = TIME_MS_MAX): Promise<Preview> {
  const worker = startWorker(import.meta.url, "./preview-worker", {
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
  });
  return new Promise<Preview>((resolve, reject) => {
    const giveUp = (problem: string) => reject(new Error(problem));
    const timer = setTimeout(() => {
      giveUp(`not drawn within ${timeMs / 1000} s`);
      void worker.terminate();
    }, timeMs);
    worker.once("message", (answer: PreviewAnswer) => {
      if ("problem" in answer) giveUp(answer.problem);
      else resolve(answer);
    });
    worker.once("error", (error) => giveUp(error.message));
    worker.once("exit", () => {
      clearTimeout(timer);
      giveUp("the decoder ended"); // unless it has answered
    });
  });
}
