import { AstmLink, type AstmLinkOptions } from "../../protocols/astm/link.ts";
import { CR, ETB, ETX, STX } from "../../protocols/bytes.ts";
import type { SimulatorLine } from "./line.ts";
import { type ReceivedMessage, Station } from "./station.ts";

// Plays one side of an ASTM line with the link of the agent: a device that sends a fixture, or the host that receives from a
// device.

/** The outcome of playing a fixture. */
export interface PlayOutcome {
  /** Whether every frame was acknowledged. */
  readonly accepted: boolean;
  readonly frames: number;
  readonly resent: number;
  readonly reason: string | null;
}

/**
 * Sends a fixture as the device. Its messages are sent by LIS01-A2, cut into frames as recorded; faults in the recording
 * are not repeated. A fixture without such a message (one-way devices, raw records) is sent unchanged.
 */
export async function playDevice(fixture: Uint8Array, line: SimulatorLine, contend = false): Promise<PlayOutcome> {
  const messages = messagesIn(fixture);
  if (messages.length === 0) {
    line.send(fixture);
    return { accepted: true, frames: 0, resent: 0, reason: null };
  }
  const station = new Station(new AstmLink({ role: "instrument", ...framingOf(fixture) }), line);
  let reason: string | null = null;
  for (const message of messages) reason ??= await station.send(message, contend);
  const { frames, resent } = station;
  return { accepted: reason === null, frames, resent, reason };
}

/**
 * Receives `count` messages as the host. Replies to a query (Q record) with `recordedReply`; null replies "no information".
 * @returns the reason of an early end, or null
 */
export async function playAstmHost(
  line: SimulatorLine,
  count: number,
  recordedReply: Uint8Array | null,
  onMessage: (received: ReceivedMessage) => void,
  contend = false,
): Promise<string | null> {
  const station = new Station(new AstmLink({ role: "host" }), line);
  const replies = recordedReply === null ? [NO_INFORMATION] : messagesIn(recordedReply);
  for (let done = 0; done < count; ) {
    const received = await station.receive();
    if (received === null) return `the line closed after ${done} of ${count} messages`;
    onMessage(received);
    if (received.incomplete !== null) continue;
    done += 1;
    if (!QUERY.test(Buffer.from(received.message).toString("latin1"))) continue;
    for (const message of replies) {
      const reason = await station.send(message, contend);
      if (reason !== null) return `the reply was not accepted: ${reason}`;
    }
  }
  await station.untilIdle();
  return null;
}

/** LIS02-A2 §12: the termination code I means that there is no information from the last query. */
const NO_INFORMATION = Buffer.from("H|\\^&\rL|1|I\r");
const QUERY = /(^|\r)Q[^0-9A-Z]/i;

/** Returns the messages of a recording, incomplete ones included. */
function messagesIn(fixture: Uint8Array): Uint8Array[] {
  const link = new AstmLink();
  const actions = [...link.receive(fixture), ...link.close()];
  return actions.flatMap((action) => (action.do === "deliver" ? [action.message] : []));
}

/** Returns the framing that the recorded device uses: its frame size, and its cuts between records. */
function framingOf(fixture: Uint8Array): Required<Pick<AstmLinkOptions, "framing" | "frameBytes">> {
  let frameBytes = 1;
  let framing: AstmLinkOptions["framing"] = "record";
  for (let at = fixture.indexOf(STX); at >= 0; at = fixture.indexOf(STX, at + 1)) {
    let end = at;
    while (end < fixture.length && fixture[end] !== ETX && fixture[end] !== ETB) end += 1;
    const text = fixture.subarray(at + 2, end);
    frameBytes = Math.max(frameBytes, text.length);
    const firstEnd = text.indexOf(CR);
    if (firstEnd >= 0 && firstEnd < text.length - 1) framing = "message";
    else if (firstEnd >= 0 && fixture[end] === ETB && framing === "record") framing = "etb-record";
  }
  return { frameBytes, framing };
}
