import type { Profile } from "../profile.ts";
import type { Pattern } from "../../protocols/profile.ts";
import type { HeardMessage } from "./heard-messages.ts";

// A message names its device: by the sender, and in the other places that a maker fills.

/** A text of the maker, with its place such as `MSH-3.1`. */
export interface MakerText {
  readonly text: string;
  readonly place: string;
}

/** The texts of a message that speak for a profile. */
export interface Claim {
  readonly profile: Profile;
  /** The reader of the profile quarantines the sender's messages. */
  readonly isRefused: boolean;
  /** `model`: the sender is a name of the device. `family`: the profile's pattern of senders matches, as those of sisters may. */
  readonly sender: "model" | "family" | null;
  /** `own`: a text is there that only this device and its sisters write. `shared`: one that other makers write too. */
  readonly mark: "own" | "shared" | null;
  /** Place and text by which the device names itself or its maker; null if it does not. */
  readonly named: MakerText | null;
}

/** Senders that identify no profile. A profile that accepts them is never recognised by its pattern of senders. */
const UNKNOWN_SENDERS = ["", "|", "Another maker|Another model"];

export function claimOf(profile: Profile, messages: readonly HeardMessage[]): Claim {
  const [first] = messages;
  if (first === undefined || (profile.protocol !== "astm" && profile.protocol !== "hl7")) {
    return { profile, isRefused: false, sender: null, mark: null, named: null };
  }
  const { sender, senderTexts, otherTexts } = makerTexts(first);
  const isNameless = sender === "" || sender === "|";
  const accepts = profile.sender?.test(sender);
  const [inSender, elsewhere] = [senderTexts, otherTexts].map((texts) =>
    texts.find(({ text }) => profile.names?.test(text)),
  );
  // An empty sender names no model, and the readers accept it, as they do one that the clinic typed.
  const isRefused =
    accepts === false &&
    !isNameless &&
    !otherTexts.some((found) => isModel(found) && profile.names?.test(found.text) === true);
  const has = (marks: Pattern | undefined) =>
    marks !== undefined &&
    messages
      .slice(0, MESSAGES_MAX)
      .some(({ text, asSent }) => marks.test(text) || (asSent !== text && marks.test(asSent)));
  // A text that relatives write too proves nothing of a device that names another maker.
  const isShared = isNameless && has(profile.sharedMarks);
  const mark = elsewhere !== undefined || has(profile.marks) ? "own" : isShared ? "shared" : null;
  // A pattern of senders such as a serial number's proves nothing if the results are not the device's.
  const isFamily =
    accepts === true &&
    !UNKNOWN_SENDERS.some((each) => profile.sender?.test(each)) &&
    (profile.marks === undefined || mark !== null || !messages.some(({ text }) => RESULT.test(text)));
  const named = inSender ?? (isFamily ? senderTexts[0] : elsewhere) ?? null;
  return { profile, isRefused, sender: inSender !== undefined ? "model" : isFamily ? "family" : null, mark, named };
}

/** The reader accepts any sender of a message that names the model in a field of these. */
function isModel({ place }: MakerText): boolean {
  return /^(?:OBR-4|SFT-[124]|EQU-[14]|OBX-18)\./.test(place);
}

const RESULT = /[\r\n](?:OBX|R)\|/;

interface MakerTexts {
  /** H-5, or `MSH-3|MSH-4`. */
  readonly sender: string;
  readonly senderTexts: readonly MakerText[];
  readonly otherTexts: readonly MakerText[];
}

/** Messages in which marks are looked for. */
const MESSAGES_MAX = 3;
/** Rows whose coding systems and instruments are read. */
const ROWS_MAX = 20;

function makerTexts({ text }: HeardMessage): MakerTexts {
  const rows = text.split(/[\r\n]+/).map((line) => line.replaceAll('""', "").split("|"));
  const header = rows[0] ?? [];
  const textsAt = (name: string, field: number, max = 1) =>
    rows
      .filter(([first]) => first === name)
      .slice(0, max)
      .flatMap((row) => parts(row[field] ?? "", `${name}-${field}`));
  if (header[0] !== "MSH") {
    return {
      sender: header[4] ?? "",
      senderTexts: parts(header[4] ?? "", "H-5"),
      otherTexts: rows
        .filter(([first]) => first === "R")
        .slice(0, ROWS_MAX)
        .flatMap((row) => parts(row[13] ?? "", "R-14")),
    };
  }
  // MSH-1 is the separator, so that the piece at index 2 is MSH-3.
  const [application = "", facility = ""] = [header[2], header[3]];
  const others = [4, 5, 8, 20].flatMap((index) => parts(header[index] ?? "", `MSH-${index + 1}`));
  const segments = [
    ...[1, 2, 3, 4, 6].flatMap((field) => textsAt("SFT", field)),
    ...[1, 4, 5].flatMap((field) => textsAt("EQU", field)),
    ...textsAt("OBR", 4),
    ...[3, 4, 18].flatMap((field) => textsAt("OBX", field, ROWS_MAX)),
  ];
  return {
    sender: `${application}|${facility}`,
    senderTexts: [...parts(application, "MSH-3"), ...parts(facility, "MSH-4")],
    otherTexts: [...others, ...segments],
  };
}

function parts(field: string, place: string): MakerText[] {
  const repetitions = field.split("~");
  return repetitions.flatMap((repetition) =>
    repetition.split("^").flatMap((text, index) => {
      return text.trim() === "" ? [] : [{ text: text.trim(), place: `${place}.${index + 1}` }];
    }),
  );
}
