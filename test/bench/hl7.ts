import type * as links from "../../agent/protocols/hl7/link.ts";
import { encodeMllp } from "../../agent/protocols/mllp.ts";
import type * as messages from "../../agent/protocols/hl7/message.ts";
import { parseByOther } from "../support/hl7-standard.ts";
import { fromBuild } from "./build.ts";
import { type Figure, whole } from "./figure.ts";
import { ackLatency } from "./hl7/latency.ts";
import { messageOf } from "./hl7/message.ts";
import { throughput } from "./hl7/throughput.ts";

const CHUNK_BYTES = 1_000;
const SHORT_BYTES = 5_000;
const LONG_BYTES = 16 * 1024 * 1024;
/** Max cost per byte of a long message relative to short messages with their replies. */
const SLOWER_THAN_SHORT_MAX = 1;
/** Message length at which the cost of replies is negligible. A quadratic link is 64 times as slow. */
const MIDDLE_BYTES = 256 * 1024;
const SLOWER_THAN_MIDDLE_MAX = 2;
const FASTER_MIN = 4;

/** Measures the agent of the build with HL7 devices over loopback. `quick` measures the same figures in less time. */
export async function* hl7(quick: boolean): AsyncGenerator<Figure> {
  yield* throughput(quick);
  yield* ackLatency(quick);
  yield await linkFigure(SHORT_BYTES, SLOWER_THAN_SHORT_MAX, quick);
  yield await linkFigure(MIDDLE_BYTES, SLOWER_THAN_MIDDLE_MAX, quick);
  yield await parserFigure(quick);
}

/** Measures the link without I/O: one long message beside the same number of bytes in short messages. */
async function linkFigure(shortBytes: number, slowerMax: number, quick: boolean): Promise<Figure> {
  const { Hl7Link } = await fromBuild<typeof links>("agent/protocols/hl7/link.ts");
  const short = encodeMllp(Buffer.from(messageOf(shortBytes)));
  const streams = {
    short: Buffer.concat(Array.from({ length: Math.floor(LONG_BYTES / short.length) }, () => short)),
    long: Buffer.from(encodeMllp(Buffer.from(messageOf(LONG_BYTES - 1_000)))),
  };
  const rates = { short: 0, long: 0 };
  for (let round = 0; round < (quick ? 4 : 12); round++) {
    for (const size of ["short", "long"] as const) {
      const stream = streams[size];
      const link = new Hl7Link(() => ({ time: "20261121173059+0300", id: "1" }));
      const from = performance.now();
      let delivered = 0;
      for (let at = 0; at < stream.length; at += CHUNK_BYTES) {
        for (const action of link.receive(stream.subarray(at, at + CHUNK_BYTES))) {
          if (action.do === "deliver" && action.incomplete === null) delivered += action.message.length;
        }
      }
      if (delivered < 0.99 * stream.length)
        throw new Error(`expected ${stream.length} delivered bytes, got ${delivered}`);
      // The best round is the one with the least interference from other processes.
      rates[size] = Math.max(rates[size], stream.length / 1e3 / (performance.now() - from));
    }
  }
  return {
    name: `HL7 link alone, one message of 16 MiB in ${CHUNK_BYTES}-byte chunks`,
    ours: `${whole(rates.long)} MB/s`,
    baseline: `as many bytes of ${whole(shortBytes / 1000)} kB messages, each acknowledged, ${whole(rates.short)} MB/s`,
    ratio: rates.short / rates.long,
    bar: `time per byte <= ${slowerMax} times`,
    met: rates.short / rates.long <= slowerMax,
  };
}

/** Measures reading MSH-10, PID-3 and fields 3, 5, 6, 7 and 8 of every OBX. */
async function parserFigure(quick: boolean): Promise<Figure> {
  const { parseMessage } = await fromBuild<typeof messages>("agent/protocols/hl7/message.ts");
  const text = messageOf(SHORT_BYTES);
  const bytes = Buffer.from(text);
  const parsers = {
    ours: () => {
      const message = parseMessage(bytes);
      if ("problem" in message) throw new Error(message.problem);
      const values = [message.header.field(10)];
      for (const segment of message.segments) {
        if (segment.name === "PID") values.push(segment.component(3, 1));
        if (segment.name !== "OBX") continue;
        values.push(segment.component(3, 1), segment.field(5), segment.field(6), segment.field(7), segment.field(8));
      }
      return values;
    },
    other: () => {
      // This parser needs text, so its time includes decoding.
      const message = parseByOther(bytes.toString());
      const values = [message.get("MSH.10"), message.get("PID.3.1")];
      for (const obx of message.getSegments("OBX")) {
        values.push(...["OBX.3.1", "OBX.5", "OBX.6", "OBX.7", "OBX.8"].map((path) => obx.get(path)));
      }
      return values;
    },
  };
  if (JSON.stringify(parsers.ours()) !== JSON.stringify(parsers.other()))
    throw new Error("expected equal values from both parsers");
  const rates = { ours: 0, other: 0 };
  for (let round = 0; round < (quick ? 4 : 12); round++) {
    for (const parser of ["other", "ours"] as const) {
      const from = performance.now();
      let count = 0;
      for (; performance.now() - from < 250; count++) parsers[parser]();
      rates[parser] = Math.max(rates[parser], (1_000 * count) / (performance.now() - from));
    }
  }
  return {
    name: `HL7 parser, messages of ${(bytes.length / 1000).toFixed(1)} kB, their results read`,
    ours: `${whole(rates.ours)} per second`,
    baseline: `hl7-standard ${whole(rates.other)} per second`,
    ratio: rates.ours / rates.other,
    bar: `ratio >= ${FASTER_MIN}`,
    met: rates.ours / rates.other >= FASTER_MIN,
  };
}
