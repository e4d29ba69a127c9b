import type { Judge } from "../message/acknowledgement.ts";
import { ACCEPTED, type AckVerdict } from "../message/acknowledgement-message.ts";
import type { Hl7Message } from "../message/message.ts";
import { encodeSegment, type Segment } from "../message/segment.ts";
import type { RegistryFault } from "./fault.ts";
import { readRegistry } from "./read.ts";
import type { PracticeSettings } from "./settings.ts";

// The verdict on a message of practice software, by its content alone. OpenVPMS sends a message with AE again for ever and
// stops its queue, so that a fault of the content is AR.

/** A fault depends on no time. */
const NO_TIME = { timeZone: "UTC", receivedAt: 0 };

/** Returns what the acknowledgements of a site depend on. */
export function registryJudge(settings: PracticeSettings): Judge {
  return (message) => {
    const reading = readRegistry(message, settings, NO_TIME);
    const fault = reading.is === "refused" ? reading.fault : null;
    return { ...verdictOf(fault), ...replyTo(message, settings, fault === null) };
  };
}

function verdictOf(fault: RegistryFault | null): AckVerdict {
  if (fault === null) return ACCEPTED;
  const { status, location, text } = fault;
  // Status 200 to 203 are about the type of the message, which reaches no application.
  const accept = status === 200 || status === 201 ? "CR" : "CA";
  return { application: "AR", accept, status, text, location };
}

/** The type of the reply, and its segments for the orders. */
function replyTo(
  message: Hl7Message,
  { orderReply }: PracticeSettings,
  isTaken: boolean,
): Pick<AckVerdict, "type" | "segments"> {
  const [type = "", trigger = ""] = message.header.components(9).map((part) => part.trim().toUpperCase());
  const isLab = type === "OML" && trigger === "O21";
  if (!isLab && !(type === "ORM" && orderReply === "ORR")) {
    return { type: trigger === "" ? "ACK" : `ACK^${trigger}` };
  }
  const orders = message.segments.filter(({ name }) => name === "ORC");
  return {
    type: isLab ? "ORL^O22" : "ORR^O02",
    segments: orders.flatMap((orc) => controlReply(orc, message, isTaken)),
  };
}

/** ORC-1, table 0119. Whether an order can be cancelled, the server decides later. */
function controlReply(orc: Segment, { delimiters }: Hl7Message, isTaken: boolean): string[] {
  const isCancellation = orc.component(1, 1).trim().toUpperCase() === "CA";
  if (isCancellation && isTaken) return [];
  const refusal = isCancellation ? "UC" : "UA";
  const code = isTaken ? "OK" : refusal;
  return [encodeSegment("ORC", [code, [orc.components(2)]], delimiters)];
}
