import fs from "node:fs";
import { Worker } from "node:worker_threads";
import type { PictureFault } from "../../page/types/images.ts";
import { moduleFile } from "../../../shared/files/program-files.ts";
import type { HeaderLocation } from "./parse-header.ts";
import type { PreviewRequest } from "./render-frame.ts";

// The process that reads untrusted files for the agent (see confined-files.ts). A second thread reads, so that this one can watch the
// memory and the agent meanwhile. V8 bounds neither the memory of WebAssembly nor array buffers per thread, and ends the process when
// an allocation of JavaScript fails.

export type FileRequest = ({ readonly do: "header" } & HeaderLocation) | ({ readonly do: "draw" } & PreviewRequest);

/** Bytes in physical memory at which the process ends. A JPEG of 20 million coloured pixels takes 0.9 GB. */
const RESIDENT_BYTES_MAX = 1024 * 1024 * 1024;
const HEAP_MB_MAX = 512;
/** At this interval a codec that fills 2 MB in a millisecond exceeds its limit by 20 MB at most. */
const WATCH_EVERY_MS = 10;

/** Without a wait for the other thread, which may be in native code. */
function end(): void {
  process.kill(process.pid, "SIGKILL");
}

function fail(fault: PictureFault): void {
  process.send?.({ fault });
  end();
}

/** Linux ends this process before the agent when the machine has no memory left. Other systems have no such choice. */
function goFirst(): void {
  try {
    fs.writeFileSync("/proc/self/oom_score_adj", "1000");
  } catch {
    // The machine is not Linux, or the process may not do this.
  }
}

// Only the agent ends this process, also when it ends itself. A signal to the group, such as Ctrl+C, is ignored.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
process.on("disconnect", end); // the agent is gone
goFirst();
setInterval(() => {
  if (process.memoryUsage.rss() > RESIDENT_BYTES_MAX) fail("IMAGE.MEMORY");
}, WATCH_EVERY_MS);

const thread = new Worker(moduleFile("agent/imaging/files/file-thread"), {
  resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
});
thread.on("message", (message) => process.send?.(message));
thread.on("error", (error: NodeJS.ErrnoException) =>
  fail(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "IMAGE.MEMORY" : "IMAGE.ENDED"),
);
process.on("message", (request: FileRequest) => thread.postMessage(request));
