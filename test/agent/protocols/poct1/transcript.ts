import type { Word } from "./wire.ts";

// What must hold of every conversation, read from its transcript alone.

export type Line =
  /** A whole document of the device; `of` where it answers one of ours. */
  | { readonly who: "device"; readonly root: string; readonly id: string; readonly of?: string }
  | { readonly who: "we"; readonly word: Word }
  | { readonly who: "timer" };

/** What we say that waits for the device. */
const ASKS = /^(?:REQ|DTV|KPA|END)/;

/** The first rule that is broken; null if none. `requestEach`: an observation satisfies a request. */
export function faultOf(lines: readonly Line[], requestEach = false): string | null {
  let outstanding: Word | null = null;
  let lastId = 0;
  /** Documents that may be answered, and were not yet. */
  const unanswered = new Set<string>();
  for (const line of lines) {
    switch (line.who) {
      case "timer":
        outstanding = null; // given up
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
        if (is === "ACK" && !unanswered.delete(of)) return `${text} answers nothing that wants an answer`;
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
      return true; // begins anew
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
