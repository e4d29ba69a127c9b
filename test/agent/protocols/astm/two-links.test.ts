import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { AstmLinkOptions } from "../../../../agent/protocols/astm/link.ts";
import type { LinkAction } from "../../../../agent/protocols/link.ts";
import { AstmLink } from "../../../../agent/protocols/astm/link.ts";
import { bytes } from "./wire.ts";
import { soakCount } from "../../../support/runner/soak.ts";

// Goal: two links deliver every message in order and unchanged over a bad line. Method: a host and an instrument send each other
// messages over a line that loses, changes, doubles and delays bytes. A "sent" message arrived completely once in that sending. An
// unsent one may have arrived too, because its last ACK was lost; then it arrives again. A fault changes one byte, so that the
// checksum detects it.

/** A fault of one chunk. Chunks are counted over both directions. */
interface Fault {
  readonly chunk: number;
  readonly kind: "lost" | "twice" | "late" | "flipped" | "byte lost" | "byte twice";
  /** Number of the byte or bit, or the delay, modulo its max. */
  readonly at: number;
}

const LINE_MS = 5;
/** Max delay: a reply still arrives within its 15 s. */
const LATE_MS_MAX = 7_000;
const END_MS = 3_600_000;
/** Max steps; links without progress fail the test. */
const TURNS_MAX = 20_000;

interface Station {
  readonly link: AstmLink;
  readonly waiting: string[];
  readonly taken: string[];
  /** Complete messages that arrived, and incomplete ones. */
  readonly whole: string[];
  readonly begun: string[];
  /** Number of complete messages that the other side had received when send() was called. */
  wholeBefore: number;
  busy: boolean;
  dueAt: number | null;
  /** Bytes written at one time arrive in one chunk. */
  written: Uint8Array[];
  /** Arrival time of the last chunk. Chunks keep their order. */
  arrivesAt: number;
}

function stationOf(options: AstmLinkOptions, messages: readonly string[]): Station {
  return {
    link: new AstmLink(options),
    waiting: [...messages],
    taken: [],
    whole: [],
    begun: [],
    wholeBefore: 0,
    busy: false,
    dueAt: null,
    written: [],
    arrivesAt: 0,
  };
}

function damaged(chunk: Uint8Array, { kind, at }: Fault): Uint8Array {
  const place = at % chunk.length;
  switch (kind) {
    case "lost":
      return new Uint8Array(0);
    case "twice":
      return Buffer.concat([chunk, chunk]);
    case "flipped":
      return chunk.map((byte, index) => (index === place ? byte ^ (1 << (at % 8)) : byte));
    case "byte lost":
      return chunk.filter((_, index) => index !== place);
    case "byte twice":
      return Buffer.concat([chunk.subarray(0, place + 1), chunk.subarray(place)]);
    case "late":
      return chunk;
  }
}

/** Runs both links until they are idle. An unsent message is offered again after `retryMs` milliseconds. */
function talk(stations: readonly [Station, Station], faults: readonly Fault[], retryMs: number): void {
  const arrivals: { readonly at: number; readonly to: Station; readonly chunk: Uint8Array }[] = [];
  let now = 0;
  let chunks = 0;
  let nextOffers: [number, number] = [0, 0];

  function carryOut(station: Station, other: Station, actions: readonly LinkAction[]): void {
    for (const action of actions) {
      switch (action.do) {
        case "reply":
          station.written.push(action.bytes);
          break;
        case "deliver":
          (action.incomplete === null ? station.whole : station.begun).push(Buffer.from(action.message).toString());
          break;
        case "timer":
          station.dueAt = action.ms === null ? null : now + action.ms;
          break;
        case "identify":
        case "report":
        case "close":
          throw new Error(`${action.do}, which no ASTM link does`);
        case "sent": {
          const message = station.waiting.shift()!;
          station.taken.push(message);
          station.busy = false;
          // Counts this sending only, without the rest of an earlier one.
          expect(other.whole.slice(station.wholeBefore)).toEqual([message]);
          break;
        }
        case "unsent":
          station.busy = false;
          expect(other.whole.slice(station.wholeBefore).length).toBeLessThanOrEqual(1);
          nextOffers = nextOffers.map((at, index) => (stations[index] === station ? now + retryMs : at)) as [
            number,
            number,
          ];
          break;
        case "warn":
          break;
      }
    }
  }

  function send(from: Station, to: Station): void {
    if (from.written.length === 0) return;
    const chunk = Buffer.concat(from.written);
    from.written = [];
    const fault = faults.find((one) => one.chunk === chunks);
    chunks += 1;
    const late = fault?.kind === "late" ? fault.at % LATE_MS_MAX : 0;
    from.arrivesAt = Math.max(from.arrivesAt, now + LINE_MS + late);
    const arrived = fault === undefined ? chunk : damaged(chunk, fault);
    if (arrived.length > 0) arrivals.push({ at: from.arrivesAt, to, chunk: arrived });
  }

  for (let turns = 0; now < END_MS && turns < TURNS_MAX; turns++) {
    for (const [index, station] of stations.entries()) {
      const other = stations[1 - index]!;
      for (const arrival of arrivals.filter(({ at, to }) => to === station && at === now)) {
        arrivals.splice(arrivals.indexOf(arrival), 1);
        carryOut(station, other, station.link.receive(arrival.chunk));
      }
      if (station.dueAt === now) {
        station.dueAt = null;
        carryOut(station, other, station.link.timeout());
      }
      const [message] = station.waiting;
      if (!station.busy && message !== undefined && now >= nextOffers[index]!) {
        station.busy = true;
        station.wholeBefore = other.whole.length;
        carryOut(station, other, station.link.send(bytes(message)));
      }
    }
    for (const [index, station] of stations.entries()) send(station, stations[1 - index]!);
    const next = [
      ...arrivals.map(({ at }) => at),
      ...stations.map(({ dueAt }) => dueAt ?? END_MS),
      ...stations.map(({ busy, waiting }, index) => (busy || waiting.length === 0 ? END_MS : nextOffers[index]!)),
    ];
    now = Math.min(...next);
  }
}

const record = fc
  .tuple(fc.constantFrom("P|1||", "O|1|", "R|1|^^^GLU|", "C|1|I|"), fc.integer({ min: 0, max: 99 }))
  .map(([head, value]) => `${head}${value}\r`);
const records = fc.array(record, { maxLength: 5 });
const options = fc.record({
  framing: fc.constantFrom("record", "etb-record", "message"),
  frameBytes: fc.constantFrom(3, 10, 240),
  interrupts: fc.boolean(),
} as const);
const fault = fc.record({
  chunk: fc.nat(60),
  kind: fc.constantFrom("lost", "twice", "late", "flipped", "byte lost", "byte twice"),
  at: fc.nat(100_000),
} as const);

/** Numbered messages, each different. */
function messagesOf(name: string, bodies: readonly (readonly string[])[]): string[] {
  return bodies.map((body, index) => `H|\\^&|||${name} ${index}\r${body.join("")}L|1|N\r`);
}

test("over any bad line every message arrives completely, in order and unchanged", () => {
  const bodies = fc.array(records, { maxLength: 3 });
  fc.assert(
    fc.property(
      bodies,
      bodies,
      options,
      options,
      fc.uniqueArray(fault, { maxLength: 8, selector: ({ chunk }) => chunk }),
      fc.constantFrom(0, 700, 15_000),
      (ofHost, ofInstrument, hostOptions, instrumentOptions, faults, retryMs) => {
        const [toInstrument, toHost] = [messagesOf("host", ofHost), messagesOf("instrument", ofInstrument)];
        const host = stationOf({ ...hostOptions, role: "host" }, toInstrument);
        const instrument = stationOf({ ...instrumentOptions, role: "instrument" }, toHost);
        talk([host, instrument], faults, retryMs);
        for (const [from, to, messages] of [
          [host, instrument, toInstrument],
          [instrument, host, toHost],
        ] as const) {
          expect(from.taken).toEqual(messages);
          // A message that arrived twice was unsent in between, so it follows itself.
          expect(to.whole.filter((message, index) => message !== to.whole[index - 1])).toEqual(messages);
          expect(to.begun.filter((begun) => !messages.some((message) => message.startsWith(begun)))).toEqual([]);
          expect(from.link.isIdle).toBe(true);
        }
      },
    ),
    { numRuns: soakCount(5_000) },
  );
});

test("without faults each message arrives once, whichever side starts", () => {
  for (const [ofHost, ofInstrument] of [
    [2, 0],
    [0, 2],
    [3, 3],
  ] as const) {
    const bodies = (count: number) => Array.from({ length: count }, () => ["P|1\r", "O|1\r"]);
    const host = stationOf({ role: "host" }, messagesOf("host", bodies(ofHost)));
    const instrument = stationOf({ role: "instrument" }, messagesOf("instrument", bodies(ofInstrument)));
    talk([host, instrument], [], 0);
    expect([host.whole, host.begun]).toEqual([messagesOf("instrument", bodies(ofInstrument)), []]);
    expect([instrument.whole, instrument.begun]).toEqual([messagesOf("host", bodies(ofHost)), []]);
  }
});
