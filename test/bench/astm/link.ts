import type * as links from "../../../agent/astm/link.ts";
import { fromBuild } from "../build.ts";
import type { Figure } from "../figure.ts";
import { type Session, sessionOfFrames, wireBytes } from "./frames.ts";

const CHUNK_BYTES = 64 * 1024;
const STREAM_BYTES = 16 * 1024 * 1024;
const MEGABYTES_MIN = 50;

/** The link without any I/O, beside a loop that only adds up the same bytes. */
export async function* linkAlone(quick: boolean): AsyncGenerator<Figure> {
  yield await linkFigure("60-byte frames", sessionOfFrames(100, 60), quick);
  yield await linkFigure("25 kB sessions of 200-byte frames", sessionOfFrames(125, 200), quick);
}

async function linkFigure(name: string, session: Session, quick: boolean): Promise<Figure> {
  const { AstmLink } = await fromBuild<typeof links>("agent/astm/link.ts");
  const chunks = streamOf(session);
  const link = new AstmLink();
  const ours: number[] = [];
  const sums: number[] = [];
  const rounds = quick ? 5 : 20;
  for (let round = -2; round < rounds; round++) {
    const bySum = megabytesPerSecond(chunks, sum);
    const byLink = megabytesPerSecond(chunks, (chunk) => link.receive(chunk).length);
    if (round < 0) continue; // warms up
    sums.push(bySum);
    ours.push(byLink);
  }
  // The best round is the one that other processes disturbed least.
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

/** Session after session, cut wherever a chunk ends. */
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
  if (taken === 0) throw new Error("nothing came of it");
  return bytes / 1e6 / seconds;
}

function sum(chunk: Buffer): number {
  let total = 0;
  for (let at = 0; at < chunk.length; at++) total += chunk[at]!;
  return total;
}
