import type { Word } from "./wire.ts";

// Rules of every dialogue, checked on its transcript.

export type Line =
  /** A complete document of the device. `of`: control id of the acknowledged document. */
  | { readonly who: "device"; readonly root: string; readonly id: string; readonly of?: string }
  | { readonly who: "we"; readonly word: Word }
  | { readonly who: "timer" };

/** Documents of the agent that await a reply. */
const ASKS = /^(?:REQ|DTV|KPA|END)/;

/** Returns the first broken rule; null if none. @param requestEach an observation ends a request */
export function faultOf(lines: readonly Line[], requestEach = false): string | null {
  let outstanding: Word | null = null;
  let lastId = 0;
  /** Documents that may be acknowledged and are not yet. */
  const unanswered = new Set<string>();
  for (const line of lines) {
    switch (line.who) {
      case "timer":
        outstanding = null; // the link gave up
        break;
      case "device":
        if (line.root !== "ACK.R01" && line.root !== "ESC.R01") unanswered.add(line.id);
        if (outstanding !== null && settles(line, outstanding, requestEach)) outstanding = null;
        break;
      case "we": {
        const { id, text } = line.word;
        if (id <= lastId) return `control id ${id} after ${lastId}`;
        lastId = id;
        const [is, , of = ""] = text.split(" ");
        if (is === "ACK" && !unanswered.delete(of)) return `${text} acknowledges nothing that is open`;
        if (!ASKS.test(text)) break;
        if (outstanding !== null) return `${text} while ${outstanding.text} is outstanding`;
        outstanding = line.word;
      }
    }
  }
  return null;
}

function settles(line: Line & { readonly who: "device" }, { id, text }: Word, requestEach: boolean): boolean {
  switch (line.root) {
    case "HEL.R01":
      return true; // a new dialogue
    case "ACK.R01":
      return Number(line.of) === id && !text.startsWith("REQ");
    case "ESC.R01":
      return Number(line.of) === id;
    case "EOT.R01":
      return text.startsWith("REQ");
    case "OBS.R01":
      return requestEach && text === "REQ ROBS";
    default:
      return false;
  }
}
