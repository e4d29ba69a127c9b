import { AstmLink, type AstmLinkOptions } from "../../protocols/astm/link.ts";
import { ACK, CR, ENQ, EOT, ETB, ETX, NAK, STX } from "../../protocols/bytes.ts";
import type { SimulatorLine } from "./line.ts";
import { Station } from "./station.ts";

// Plays a device that sends a fixture on an ASTM line, with the link of the agent.

export interface PlayOutcome {
  /** Whether every frame was acknowledged. */
  readonly accepted: boolean;
  readonly frames: number;
  readonly resent: number;
  readonly reason: string | null;
}

/**
 * Sends a fixture as the device. Its messages are sent by LIS01-A2, cut into frames as recorded; faults in the recording are not
 * repeated. A recording with frames that never arrived completely is refused. A fixture without such a message (one-way devices,
 * raw records) is sent unchanged.
 */
export async function playDevice(fixture: Uint8Array, line: SimulatorLine): Promise<PlayOutcome> {
  const lost = lostFrames(fixture);
  if (lost !== null) return { accepted: false, frames: 0, resent: 0, reason: lost };
  const messages = messagesIn(fixture);
  if (messages.length === 0) {
    line.send(fixture);
    return { accepted: true, frames: 0, resent: 0, reason: null };
  }
  const station = new Station(new AstmLink({ role: "instrument", ...framingOf(fixture) }), line);
  let reason: string | null = null;
  for (const message of messages) reason ??= await station.send(message);
  const { frames, resent } = station;
  return { accepted: reason === null, frames, resent, reason };
}

/**
 * Finds frames that the receiver refused and the device did not send again, such as those with a wrong checksum: their records would be
 * missing from what is played. @returns a sentence, or null
 */
function lostFrames(fixture: Uint8Array): string | null {
  const link = new AstmLink();
  const lost: string[] = [];
  let refused: { number: number; reason: string }[] = [];
  const loseRefused = () => void lost.push(...refused.splice(0).map(({ reason }) => reason));
  let number = 0;
  for (const [at, byte] of fixture.entries()) {
    if (byte === STX) number = fixture[at + 1] ?? 0;
    if (byte === EOT) loseRefused();
    const actions = link.receive(Uint8Array.of(byte));
    const warned = actions.find((action) => action.do === "warn");
    for (const action of actions) {
      if (action.do !== "reply") continue;
      if (action.bytes.includes(NAK)) refused.push({ number, reason: warned?.reason ?? "it was refused" });
      else if (action.bytes.includes(ACK) && byte !== ENQ) {
        // Numbers restart after seven, so a device that went on meets its number again.
        if (refused.every((frame) => frame.number === number)) refused = [];
        else loseRefused();
      }
    }
  }
  loseRefused();
  return lost.length === 0 ? null : `the recording lacks ${lost.length} of its frames: ${lost[0]}`;
}

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
