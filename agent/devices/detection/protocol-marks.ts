import { allProfiles } from "../index.ts";
import { type Claim, claimOf } from "./claims.ts";
import { astmMessages, type HeardMessage, hl7Messages } from "./heard-messages.ts";

// Marks of each protocol in received bytes.

interface ProtocolMatch {
  readonly protocol: string;
  readonly profiles: readonly string[];
  readonly score: number;
  readonly reason: string;
  /** Control characters do not exclude it. */
  readonly isBinary?: true;
}

/** Finds the marks of each protocol in a text. A proof, such as a right checksum, scores more than a cut message. */
export const PROTOCOL_MARKS: readonly ((text: string) => ProtocolMatch[])[] = [
  lis01,
  enquiry,
  bc2800,
  rawRecords,
  oneWayText,
  urineStrip,
  summedRecords,
  checkedLines,
  sohRecords,
  vetLabInquiries,
  hl7,
  poct1,
  dicom,
];

function lis01(text: string): ProtocolMatch[] {
  const ended = text
    .split("\x02")
    .slice(1)
    .flatMap((piece) => {
      const end = Math.max(piece.indexOf("\x03"), piece.indexOf("\x17"));
      return end > 0 && /^[0-7]/.test(piece)
        ? [{ body: piece.slice(0, end + 1), sum: piece.slice(end + 1, end + 3) }]
        : [];
    });
  // Frames with another check, or without one, are of the standard if a header is in them.
  const isOther = ended.some(({ body }) => /^[0-7]H[^A-Za-z\d\s]{3}/.test(body));
  const frames = ended.filter(({ sum }) => isOther || /^[\dA-F]{2}$/i.test(sum));
  if (frames.length === 0) return [];
  const right = frames.filter(({ body, sum }) => Number.parseInt(sum, 16) === sumOf(body));
  const score = right.length > 0 ? 60 + Math.round((35 * right.length) / frames.length) : isOther ? 50 : 30;
  const profiles = [...profilesOf("astm", astmMessages(Buffer.from(text, "latin1"))), "generic-astm"];
  return [
    {
      protocol: "LIS01-A2 frames",
      profiles,
      score,
      reason: `${right.length} of ${frames.length} frames have the right checksum`,
    },
  ];
}

function sumOf(body: string): number {
  let sum = 0;
  for (let index = 0; index < body.length; index++) sum += body.charCodeAt(index);
  return sum & 0xff;
}

function xorOf(body: string): number {
  return Array.from(body).reduce((xor, char) => xor ^ char.charCodeAt(0), 0);
}

/** A device that waits for ACK sends nothing but ENQ. */
function enquiry(text: string): ProtocolMatch[] {
  const enquiries = text.split("\x05").length - 1;
  if (enquiries === 0 || text.replaceAll("\x05", "").replaceAll("\x04", "") !== "") return [];
  return [
    {
      protocol: "a device that waits for ACK",
      profiles: ["generic-astm", "mindray-bc2800vet"],
      score: enquiries > 1 ? 60 : 40,
      reason: `ENQ, ${enquiries} times, and nothing else: sniff sends no ACK`,
    },
  ];
}

function bc2800(text: string): ProtocolMatch[] {
  const [, digits = ""] = /[ABC]([\d*]{60,})/.exec(text) ?? [];
  if (digits === "") return [];
  const whole = digits.length + 1 === 2453 || digits.length + 1 === 2456;
  const profile = text.includes("\x05") ? "mindray-bc2800vet" : "mindray-bc2800vet-one-way";
  const reason = `a body of ${digits.length + 1} digits${whole ? "" : ", not 2453 or 2456"}`;
  return [{ protocol: "BC-2800Vet", profiles: [profile], score: whole ? 95 : 50, reason }];
}

function rawRecords(text: string): ProtocolMatch[] {
  const lines = text
    .replaceAll("\x05", "")
    .split(/[\r\n]+/)
    .map((line) => line.replace(/^[0-7](?=[A-Z]\W)/, ""))
    .map((line) => (line.startsWith("\x02") ? line.slice(1) : line));
  const header = lines.findIndex((line) => /^H[^A-Za-z\d\s]{3}/.test(line));
  if (header < 0) return [];
  const ended = lines.slice(header).some((line) => /^L\W\d/.test(line));
  const records = lines.slice(header).filter((line) => /^[HPORCMLQS]\W/.test(line)).length;
  return [
    {
      protocol: "LIS02 records without frames",
      profiles: ["generic-astm-raw"],
      score: ended ? 85 : 55,
      reason: `${records} lines are records, ${ended ? "from H to L" : "no L record"}`,
    },
  ];
}

function oneWayText(text: string): ProtocolMatch[] {
  // Blocks of one text are joined by ETB and STX.
  const [, first = ""] = text.replaceAll("\x17\x02", "").replaceAll("\x17\n\x02", "").split("\x02");
  const [body = "", ...rest] = first.split("\x03");
  if (body === "") return [];
  const end = rest.length > 0 ? "between STX and ETX" : "after STX, no ETX";
  const off = rest.length > 0 ? 0 : 30;
  const lines = body.split("\n").filter((line) => line !== "");
  if (/^\d\d\/\d\d\/\d\d +\d\d:\d\d +ID# *[^[]*\[/.test(body)) {
    const reason = `time, ID# and specimen in one line ${end}`;
    return [{ protocol: "SPOTCHEM EL line", profiles: ["arkray-spotchem-el"], score: 90 - off, reason }];
  }
  if (/^\d\d\/\d\d\/\d\d +\d\d:\d\d/.test(body)) {
    const right = lines.filter((line) => line.length === 20).length;
    const score = right === lines.length ? 95 : 65;
    const reason = `${right} of ${lines.length} lines have 20 characters, ${end}`;
    return [{ protocol: "SPOTCHEM lines", profiles: ["arkray-spotchem-ez"], score: score - off, reason }];
  }
  if (/^.{10} ..[ \d]\d\/[ \d]\d \d\d\/\d\d\/\d\d \d\d:\d\d /.test(body)) {
    const reason = `identifier, count and time in one line, name, value and unit in the next, ${end}`;
    return [{ protocol: "SPOTCHEM lines", profiles: ["arkray-spotchem-ez"], score: 95 - off, reason }];
  }
  if (/^V\S+ +V.* D\d{4}\/\d\d\/\d\dT\d\d:\d\d/.test(body)) {
    const reason = `model, version and time ${end}`;
    return [{ protocol: "Arkray urine strip", profiles: ["arkray-pu4010"], score: 90 - off, reason }];
  }
  // Fixed columns, type 3: condition, date and time.
  if (/^[A-Z ]{7}\d[\d-]{8}\d\d\d:\d\d/.test(body)) {
    const reason = `condition, date and time in fixed columns ${end}`;
    return [{ protocol: "Fujifilm records", profiles: fujiProfiles(body), score: 90 - off, reason }];
  }
  if (/^[RTS],[^,]*,\d[\d-]{8}\d,\d\d:\d\d,|^E,\d[\d-]{8}\d,|^[IWXY],/.test(body)) {
    const bcc = rest.join("\x03").charCodeAt(0); // the BCC may be ETX
    const isRight = bcc === xorOf(`${body}\x03`);
    const profiles = /^[TXY]/.test(body) ? ["fuji-au"] : fujiProfiles(body);
    const reason = `a record ${body.slice(0, 1)} ${end}, ${isRight ? "the right BCC" : "no right BCC"}`;
    return [{ protocol: "Fujifilm records", profiles, score: (isRight ? 95 : 75) - off, reason }];
  }
  return [];
}

/** Both models write the same records. The tests of an AU are hormones and proteins: `v-T4`, `vf-SAA`; `v-AMY` is of an NX. */
function fujiProfiles(body: string): string[] {
  const models = ["fuji-dri-chem-nx", "fuji-au"];
  return /[,\d]v[a-z]?-(?:T4|TSH|COR|PRO?G|SAA|CRP|BA|TBA)/.test(body) ? models.toReversed() : models;
}

function urineStrip(text: string): ProtocolMatch[] {
  const [, first = ""] = text.split("\x02");
  const [body = "", end] = first.split("\x03");
  const pads = body.split(/[\r\n]+/).filter((line) => /^[* ]*(UBG|BIL|KET|BLD|PRO|NIT|LEU|GLU|SG|pH|VC) /i.test(line));
  if (pads.length < 3 || !/^No\. *\d/m.test(body)) return [];
  const reason = `No. and ${pads.length} pads after STX${end === undefined ? ", no ETX" : ""}`;
  return [{ protocol: "DIRUI strip", profiles: ["dirui-h100"], score: end === undefined ? 60 : 90, reason }];
}

/** A record of the run with its date, and words at the end of the transfer. */
function summedRecords(text: string): ProtocolMatch[] {
  if (!/(?:^|[\r\n])R,\d*,\d{4}-\d\d-\d\d,\d\d:\d\d:\d\d,/.test(text)) return [];
  const isEnded = text.includes(",TRANSFER FINISH");
  const reason = `a record R with date and time, ${isEnded ? "and" : "no"} TRANSFER FINISH`;
  return [{ protocol: "HTI records", profiles: ["hti-microcc-20"], score: isEnded ? 95 : 70, reason }];
}

/**
 * A header, the name of the frame in its own line or in the header's, and END with a number. A device that waits for an
 * acknowledgement sends CONNECT alone.
 */
function checkedLines(text: string): ProtocolMatch[] {
  const isFrame = /(?:^|[\r\n])[^\r\n;]+;[^\r\n]*[\r;]RESULT\r/.test(text);
  const isEnded = isFrame && /\rEND_RESULT; *\d{1,5}\r/.test(text);
  const isConnect = /(?:^|[\r\n;])(?:CONNECT;[^\r\n]*;|RESULT_READY;)\d+\r/.test(text);
  if (!isFrame && !isConnect) return [];
  const reason = isFrame ? `lines after RESULT, ${isEnded ? "and" : "no"} END_RESULT` : "CONNECT or RESULT_READY";
  return [{ protocol: "lines with a check number", profiles: ["mythic"], score: isEnded ? 95 : 70, reason }];
}

function sohRecords(text: string): ProtocolMatch[] {
  const records = text
    .split("\x01")
    .slice(1)
    .find((piece) => /^H[^A-Za-z\d\s]{3}/.test(piece));
  if (records === undefined) return [];
  const own = allProfiles().find(({ link }) => link.kind === "soh-eot");
  // Another device may have this frame too, and the profile would refuse it.
  const isRefused = own === undefined || claimOf(own, astmMessages(Buffer.from(records, "latin1"))).isRefused;
  const isEnded = records.includes("\x04");
  const score = isEnded ? 95 : 70;
  const reason = `records after SOH, ${isEnded ? "and EOT" : "no EOT"}`;
  return [{ protocol: "LIS02 records from SOH to EOT", profiles: isRefused ? [] : [own.id], score, reason }];
}

/**
 * Inquiries of an IDEXX VetLab Station, which no profile reads: STX, two characters, 80, length, text, check, ETX. Length and
 * check have the eighth bit.
 */
function vetLabInquiries(text: string): ProtocolMatch[] {
  const inquiries = text.split("\x02").filter((piece) => {
    const length = piece.charCodeAt(3) & 0x7f;
    const body = piece.slice(4, 4 + length);
    return /^\d\d\x80[\x81-\xff]/.test(piece) && piece.slice(4 + length, 6 + length) === `${vetLabCheck(body)}\x03`;
  });
  if (inquiries.length === 0) return [];
  const reason = `${inquiries.length} inquiries with the right check`;
  return [{ protocol: "IDEXX VetLab Station, port for practice software", profiles: [], score: 95, reason }];
}

function vetLabCheck(body: string): string {
  return String.fromCharCode((sumOf(body) & 0x7f) | 0x80);
}

/** Returns the ids of the special profiles that something in the messages speaks for, those with the most first. */
function profilesOf(protocol: "astm" | "hl7", messages: readonly HeardMessage[]): string[] {
  const found = allProfiles()
    .filter((profile) => profile.protocol === protocol && profile.link.kind !== "soh-eot")
    .map((profile) => claimOf(profile, messages))
    .filter((claim) => !claim.isRefused && weightOf(claim) > 0);
  return found.toSorted((one, other) => weightOf(other) - weightOf(one)).map(({ profile }) => profile.id);
}

const WEIGHTS = { mark: { own: 2, shared: 1 }, sender: { model: 2, family: 1 } } as const;

function weightOf({ sender, mark }: Claim): number {
  return (mark === null ? 0 : WEIGHTS.mark[mark]) + (sender === null ? 0 : WEIGHTS.sender[sender]);
}

/** Returns the ids of the special profiles of a sender: H-5, or `MSH-3|MSH-4`. */
export function profilesOfSender(protocol: "astm" | "hl7", sender: string): string[] {
  const text = protocol === "hl7" ? `MSH|^~\\&|${sender}` : `H|\\^&|||${sender}`;
  return profilesOf(protocol, [{ bytes: Buffer.from(text), text, asSent: text }]);
}

/** Returns the ids of the profiles that a complete message suggests. */
export function profilesNamedIn(message: Uint8Array): string[] {
  const messages = hl7Messages(Buffer.concat([Buffer.of(0x0b), message]));
  return messages.length > 0 ? profilesOf("hl7", messages) : profilesOf("astm", astmMessages(message));
}

function hl7(text: string): ProtocolMatch[] {
  const messages = hl7Messages(Buffer.from(text, "latin1"));
  if (messages.length === 0) return [];
  const ended = text.includes("\x1c");
  return [
    {
      protocol: "HL7 over MLLP",
      profiles: [...profilesOf("hl7", messages), "generic-hl7"],
      score: ended ? 95 : 70,
      reason: `VT, MSH${ended ? " and FS" : ", no FS"}`,
    },
  ];
}

/** A POCT1-A device sends the first document. */
function poct1(text: string): ProtocolMatch[] {
  if (!/<HEL\.R01[\s>]/.test(text)) return [];
  const ended = text.includes("</HEL.R01>");
  return [
    {
      protocol: "POCT1-A",
      profiles: ["generic-poct1a"],
      score: ended ? 95 : 70,
      reason: `HEL.R01, ${ended ? "complete" : "without its end"}`,
    },
  ];
}

/** PS3.8 §9.3.2: A-ASSOCIATE-RQ with the DICOM application context. */
function dicom(text: string): ProtocolMatch[] {
  if (!text.startsWith("\x01\0") || !text.includes("1.2.840.10008.3.1.1.1")) return [];
  const { called, calling } = aeTitlesIn(text);
  return [{ protocol: "DICOM", profiles: ["dicom"], score: 95, reason: `${calling} calls ${called}`, isBinary: true }];
}

/** Returns the AE titles of an A-ASSOCIATE-RQ. */
export function aeTitlesIn(request: string): { readonly called: string; readonly calling: string } {
  return { called: request.slice(10, 26).trim(), calling: request.slice(26, 42).trim() };
}
