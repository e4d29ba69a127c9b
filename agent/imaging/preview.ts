import { Worker } from "node:worker_threads";
import type { Preview, PreviewResult, PreviewRequest } from "./render-frame.ts";
import { moduleFile } from "../../shared/runtime/program-files.ts";

/** Time limit of a preview. The largest frames take some seconds. */
const TIME_MS_MAX = 20_000;
const MEMORY_MB_MAX = 512;

/** Draws one frame of an instance in a thread with a time limit. @throws with the reason if there is no picture */
export function drawPreview(request: PreviewRequest, timeMs = TIME_MS_MAX, signal?: AbortSignal): Promise<Preview> {
  const worker = new Worker(moduleFile("agent/imaging/preview-worker"), {
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
  });
  return new Promise<Preview>((resolve, reject) => {
    const giveUp = (problem: string) => reject(new Error(problem));
    const end = (problem: string) => {
      giveUp(problem);
      void worker.terminate();
    };
    const timer = setTimeout(() => end(`not drawn within ${timeMs / 1000} s`), timeMs);
    const abort = () => end("given up");
    signal?.addEventListener("abort", abort);
    worker.once("message", (result: PreviewResult) => {
      if ("problem" in result) giveUp(result.problem);
      else resolve(result);
    });
    worker.once("error", (error) => giveUp(error.message));
    worker.once("exit", () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      giveUp("the decoder ended"); // has no effect after a result
    });
  });
}
