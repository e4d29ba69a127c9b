import { newUlid } from "../../../shared/api/fp.ts";
import { encodeHeader, stampOf } from "../../protocols/hl7/message/acknowledgement-message.ts";
import { encodeText } from "../../protocols/hl7/message/charset.ts";
import { Hl7Link } from "../../protocols/hl7/link.ts";
import { asksForOrders } from "../../protocols/hl7/message/message-types.ts";
import { encodeSegment } from "../../protocols/hl7/message/segment.ts";
import { encodeMllp } from "../../protocols/mllp.ts";
import { type Hl7Message, parseMessage } from "../../protocols/hl7/message/message.ts";
import type { PlayOutcome } from "./analyzer.ts";
import { zonedTime } from "../../report/device-time.ts";
import type { SimulatorLine } from "./line.ts";
import { type ReceivedMessage, Station } from "./station.ts";

// Plays a device that sends a fixture on an MLLP line.

/** Times that a message is sent before the simulated device gives up. */
const TRIES_MAX = 5;
/** Max time for orders to arrive after a query, in ms. */
const ORDERS_MS = 2_000;

const stamp = () => stampOf({ now: () => zonedTime(Date.now(), "UTC"), newId: newUlid });

/** Sends a fixture's messages as the device. Reports received messages other than ACK, and acknowledges a DSR. */
export async function playHl7Device(
  fixture: Uint8Array,
  line: SimulatorLine,
  onMessage: (received: ReceivedMessage) => void,
): Promise<PlayOutcome> {
  const station = new Station(new Hl7Link(stamp, { ackMode: "aa" }), line);
  const played = { frames: 0, resent: 0 };
  const messages = messagesIn(fixture);
  if (messages.length === 0) return { accepted: false, ...played, reason: "the recording has no HL7 message" };
  for (const bytes of messages) {
    const parsed = parse(bytes);
    if (parsed !== null && parsed.segments.some(({ name }) => name === "MSA")) continue; // a reply in the recording
    let reason = await station.send(bytes);
    for (let tries = 1; reason !== null && line.isOpen && tries < TRIES_MAX; tries++) {
      played.resent += 1;
      reason = await station.send(bytes);
    }
    if (reason !== null) return { accepted: false, ...played, reason };
    played.frames += 1;
    const hasAsked = parsed !== null && asksForOrders(parsed);
    for (const received of await station.receiveFor(hasAsked ? ORDERS_MS : 0)) {
      const message = parse(received.message);
      if (message?.header.component(9, 1) === "DSR") line.send(acknowledgementOf(message));
      if (message?.header.component(9, 1) !== "ACK") onMessage(received);
    }
  }
  return { accepted: true, ...played, reason: null };
}

function messagesIn(fixture: Uint8Array): Uint8Array[] {
  const link = new Hl7Link(stamp);
  const actions = [...link.receive(fixture), ...link.close()];
  return actions.flatMap((action) => (action.do === "deliver" ? [action.message] : []));
}

function parse(message: Uint8Array): Hl7Message | null {
  const parsed = parseMessage(message);
  return "problem" in parsed ? null : parsed;
}

/** Encodes ACK^Q03 for a DSR^Q03. */
function acknowledgementOf(display: Hl7Message): Uint8Array {
  const msa = encodeSegment("MSA", ["AA", display.header.field(10)], display.delimiters);
  const text = `${encodeHeader(display, ["ACK", "Q03"], stamp())}\r${msa}\r`;
  return encodeMllp(encodeText(text, display.charset));
}
