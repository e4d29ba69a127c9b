import type * as links from "../../../agent/protocols/astm/link.ts";
import type { Link } from "../../../agent/protocols/link.ts";
import { fromBuild } from "../build.ts";
import type { Figure } from "../figure.ts";
import { type Session, sessionOfFrames, wireBytes } from "./frames.ts";

const CHUNK_BYTES = 64 * 1024;
const STREAM_BYTES = 16 * 1024 * 1024;
const MEGABYTES_MIN = 50;
/** Lengths of a short and a long message, in bytes. The long one is the longest that the link accepts. */
const SCALE = { short: 2 * 1024 * 1024, long: 16 * 1024 * 1024, ratioMax: 10 };

/** Measures the link without I/O, beside a loop that adds up the same bytes. */
export async function* linkAlone(quick: boolean): AsyncGenerator<Figure> {
  yield await linkFigure("60-byte frames", sessionOfFrames(100, 60), quick);
  yield await linkFigure("25 kB sessions of 125 frames", sessionOfFrames(125, 200), quick);
  yield await scaleFigure(quick);
}

async function linkFigure(name: string, session: Session, quick: boolean): Promise<Figure> {
  const { AstmLink } = await fromBuild<typeof links>("agent/protocols/astm/link.ts");
  const chunks = streamOf(session);
  const link = new AstmLink();
  const ours: number[] = [];
  const sums: number[] = [];
  const rounds = quick ? 5 : 20;
  for (let round = -2; round < rounds; round++) {
    const bySum = megabytesPerSecond(chunks, sum);
    const byLink = megabytesPerSecond(chunks, (chunk) => link.receive(chunk).length);
    if (round < 0) continue; // warm-up
    sums.push(bySum);
    ours.push(byLink);
  }
  // The best round is the one with the least interference from other processes.
  const rate = Math.max(...ours);
  const sumRate = Math.max(...sums);
  return {
    name: `link alone, ${name}, ${CHUNK_BYTES / 1024} kB chunks`,
    ours: `${rate.toFixed(0)} MB/s`,
    baseline: `adding up the bytes ${sumRate.toFixed(0)} MB/s`,
    ratio: rate / sumRate,
    bar: `>= ${MEGABYTES_MIN} MB/s`,
    met: rate >= MEGABYTES_MIN,
  };
}

/** Compares the cost of a long and a short message. The ratio is 8 for a linear link. */
async function scaleFigure(quick: boolean): Promise<Figure> {
  const { AstmLink } = await fromBuild<typeof links>("agent/protocols/astm/link.ts");
  const [short, long] = [SCALE.short, SCALE.long].map((bytes) => {
    // 193 bytes of text per frame of 200 bytes: the message has the maximum length.
    const wire = wireBytes(sessionOfFrames(Math.floor(bytes / 193), 200));
    const runs = Array.from({ length: quick ? 3 : 10 }, () => receiveWhole(new AstmLink(), wire));
    return {
      ms: Math.min(...runs.map(({ ms }) => ms)),
      megabytes: Math.max(...runs.map(({ megabytes }) => megabytes)),
    };
  }) as [Cost, Cost];
  const [time, memory] = [long.ms / short.ms, long.megabytes / short.megabytes];
  return {
    name: `link alone, one message of ${SCALE.long / 1024 / 1024} MiB`,
    ours: `${long.ms.toFixed(0)} ms, ${long.megabytes.toFixed(0)} MB held (${memory.toFixed(1)} times)`,
    baseline: `one of ${SCALE.short / 1024 / 1024} MiB ${short.ms.toFixed(0)} ms, ${short.megabytes.toFixed(0)} MB`,
    ratio: time,
    bar: `time and memory <= ${SCALE.ratioMax} times`,
    met: time <= SCALE.ratioMax && memory <= SCALE.ratioMax,
  };
}

interface Cost {
  readonly ms: number;
  readonly megabytes: number;
}

function receiveWhole(link: Link, wire: Uint8Array): Cost {
  const before = process.memoryUsage().arrayBuffers;
  const from = performance.now();
  let delivered = 0;
  for (let at = 0; at < wire.length; at += CHUNK_BYTES) {
    for (const action of link.receive(wire.subarray(at, at + CHUNK_BYTES))) {
      if (action.do === "deliver" && action.incomplete === null) delivered += action.message.length;
    }
  }
  const ms = performance.now() - from;
  if (delivered === 0) throw new Error("expected a delivered message, got none");
  return { ms, megabytes: (process.memoryUsage().arrayBuffers - before) / 1e6 };
}

/** Repeats a session and cuts the stream into chunks, without regard to frames. */
function streamOf(session: Session): Buffer[] {
  const wire = wireBytes(session);
  const stream = Buffer.concat(Array.from({ length: Math.ceil(STREAM_BYTES / wire.length) }, () => wire));
  const chunks: Buffer[] = [];
  for (let at = 0; at < stream.length; at += CHUNK_BYTES) chunks.push(stream.subarray(at, at + CHUNK_BYTES));
  return chunks;
}

function megabytesPerSecond(chunks: readonly Buffer[], take: (chunk: Buffer) => number): number {
  const from = performance.now();
  let bytes = 0;
  let taken = 0;
  for (const chunk of chunks) {
    bytes += chunk.length;
    taken += take(chunk);
  }
  const seconds = (performance.now() - from) / 1000;
  if (taken === 0) throw new Error("expected actions of the link, got none");
  return bytes / 1e6 / seconds;
}

function sum(chunk: Buffer): number {
  let total = 0;
  for (let at = 0; at < chunk.length; at++) total += chunk[at]!;
  return total;
}
