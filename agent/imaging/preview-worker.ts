import { parentPort, workerData } from "node:worker_threads";
import { drawFile, type PreviewRequest } from "./render-frame.ts";

// The thread that draws one frame. Who starts it sets a time limit.

parentPort?.postMessage(drawFile(workerData as PreviewRequest));
