import { parentPort, workerData } from "node:worker_threads";
import { drawFile, type PreviewRequest } from "./render-frame.ts";

// Thread that draws one frame. The caller sets a time limit.

parentPort?.postMessage(await drawFile(workerData as PreviewRequest));
