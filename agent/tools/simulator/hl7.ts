import { newUlid } from "../../../shared/api/fp.ts";
import { encodeHeader, stampOf } from "../../protocols/hl7/acknowledgement-message.ts";
import { Hl7Link } from "../../protocols/hl7/link.ts";
import { asksForOrders } from "../../protocols/hl7/message-types.ts";
import { encodeMllp } from "../../protocols/mllp.ts";
import { encodeSegment, encodeText, type Hl7Message, parseMessage } from "../../protocols/hl7/message.ts";
import { type Line, type Played, type Received, Station } from "./analyzer.ts";
import { zonedTime } from "../../report/device-time.ts";

// Plays the other side of an MLLP line: a device that sends what a fixture says, or a LIS that takes what a device sends.

/** A message that is not taken is sent again, as it is. */
const TRIES_MAX = 5;
/** What a device has asked for comes within that. */
const ORDERS_MS = 2_000;

const stamp = () => stampOf({ now: () => zonedTime(Date.now(), "UTC"), newId: newUlid });

/** Sends a fixture's messages as the device; what it is sent besides answers is acknowledged and told. */
export async function playHl7Device(
  fixture: Uint8Array,
  line: Line,
  onMessage: (received: Received) => void,
): Promise<Played> {
  const station = new Station(new Hl7Link(stamp, { ackMode: "aa" }), line);
  const played = { frames: 0, resent: 0 };
  for (const message of messagesIn(fixture)) {
    const parsed = parse(message);
    if (parsed !== null && isAnswer(parsed)) continue; // what it was answered then
    let reason = await station.send(message);
    for (let tries = 1; reason !== null && line.isOpen && tries < TRIES_MAX; tries++) {
      played.resent += 1;
      reason = await station.send(message);
    }
    if (reason !== null) return { accepted: false, ...played, reason };
    played.frames += 1;
    const hasAsked = parsed !== null && asksForOrders(parsed);
    for (const received of await station.hear(hasAsked ? ORDERS_MS : 0)) {
      const said = parse(received.message);
      if (said?.header.component(9, 1) === "DSR") line.send(acknowledgementOf(said));
      if (said?.header.component(9, 1) !== "ACK") onMessage(received);
    }
  }
  return { accepted: true, ...played, reason: null };
}

/**
 * Takes that many messages as the LIS, and answers a query for orders with `answer` or, without one, that there are none.
 * Gives why it did not come to the end, or null.
 */
export async function playLis(
  line: Line,
  count: number,
  answer: Uint8Array | null,
  onMessage: (received: Received) => void,
): Promise<string | null> {
  const station = new Station(new Hl7Link(stamp, { worklist: answer !== null }), line);
  const answers = answer === null ? [] : messagesIn(answer);
  for (let taken = 0; taken < count; ) {
    const received = await station.receive();
    if (received === null) return `the line closed after ${taken} of ${count} messages`;
    onMessage(received);
    const message = received.incomplete === null ? parse(received.message) : null;
    if (message === null || isAnswer(message)) continue;
    taken += 1;
    for (const text of asksForOrders(message) ? answers : []) {
      const reason = await station.send(answering(message, text));
      if (reason !== null) return `the answer was not taken: ${reason}`;
    }
  }
  await station.rest();
  return null;
}

/** What a receiver makes of a recording. */
function messagesIn(fixture: Uint8Array): Uint8Array[] {
  const link = new Hl7Link(stamp);
  const actions = [...link.receive(fixture), ...link.close()];
  return actions.flatMap((action) => (action.do === "deliver" ? [action.message] : []));
}

function parse(message: Uint8Array): Hl7Message | null {
  const parsed = parseMessage(message);
  return "problem" in parsed ? null : parsed;
}

function isAnswer({ segments }: Hl7Message): boolean {
  return segments.some(({ name }) => name === "MSA");
}

/** ACK^Q03 to DSR^Q03. */
function acknowledgementOf(display: Hl7Message): Uint8Array {
  const msa = encodeSegment("MSA", ["AA", display.header.field(10)], display.delimiters);
  const text = `${encodeHeader(display, ["ACK", "Q03"], stamp())}\r${msa}\r`;
  return encodeMllp(encodeText(text, display.charset));
}

/** A recorded answer, as one to this query: in MSA-2 stands the MSH-10 of what was asked then. */
function answering(query: Hl7Message, answer: Uint8Array): Uint8Array {
  const message = parse(answer);
  if (message === null) return answer;
  const { field } = message.delimiters;
  const segments = message.segments.map(({ name, text }) =>
    name === "MSA" ? text.split(field).with(2, query.header.raw(10)).join(field) : text,
  );
  return encodeText(segments.map((segment) => `${segment}\r`).join(""), message.charset);
}
