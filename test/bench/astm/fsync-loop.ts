import fs from "node:fs";

// Baseline of the latency: bursts of 4 kB writes with fsync at a fixed interval, as many per burst as a message has frames.
// Prints the milliseconds of each write.

const [file = "", seconds = "0", everyMs = "0", writes = "0"] = process.argv.slice(2);
const handle = fs.openSync(file, "w");
const block = Buffer.alloc(4096, 0x55);
const latencies: number[] = [];
const from = performance.now();
for (let message = 0; message * Number(everyMs) < Number(seconds) * 1000; message++) {
  const ms = from + message * Number(everyMs) - performance.now();
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
  for (let write = 0; write < Number(writes); write++) {
    const startedAt = performance.now();
    fs.writeSync(handle, block);
    fs.fsyncSync(handle);
    latencies.push(performance.now() - startedAt);
  }
}
fs.closeSync(handle);
process.stdout.write(JSON.stringify(latencies.map((ms) => Number(ms.toFixed(3)))));
