import { expect, test } from "vitest";
import { FRAME_BYTES_MAX } from "../../../../shared/network/hl7-sender/frames.ts";
import { type Hl7Outcome, Hl7Sender } from "../../../../shared/network/hl7-sender/sender.ts";
import { diceOf, pick } from "../../../support/runner/dice.ts";

const CONTROL_ID = "W0777";
const message = (controlId = CONTROL_ID, modes = "") =>
  Buffer.from(
    `MSH|^~\\&|VETWIRE|CLINIC|PIMS|CLINIC|20261121100112+0300||ORU^R01^ORU_R01|${controlId}|P|2.5.1${modes}\rPID|1\r`,
  );
const ENHANCED = "|||AL|AL";
const frame = (text: string) => `\v${text}\x1c\r`;
const ack = (code: string, controlId = CONTROL_ID, more = "") =>
  frame(`MSH|^~\\&|PIMS|CLINIC|VETWIRE|CLINIC|20261121||ACK^R01|9|P|2.5.1\rMSA|${code}|${controlId}${more}\r`);

/** Sends a message, receives the pieces, and lets the timer expire as long as nothing is settled. */
function outcomeOf(sent: Uint8Array, pieces: readonly Uint8Array[]): Hl7Outcome {
  const sender = new Hl7Sender(1000);
  const settled = [
    ...sender.send(sent),
    ...pieces.flatMap((piece) => sender.receive(piece)),
    ...sender.timeout(),
  ].flatMap((action) => (action.do === "settle" ? [action.outcome] : []));
  expect(settled).toHaveLength(1);
  return settled[0]!;
}

const received = (text: string, sent: Uint8Array = message()) => outcomeOf(sent, [Buffer.from(text)]);
const LOG = { outcome: "failed", code: "ACK.TIMED_OUT", text: null } as const;

test("a message leaves in one MLLP frame, and the acknowledgement of its MSH-10 settles it", () => {
  const sender = new Hl7Sender(1000);
  const framed = new Uint8Array(Buffer.concat([Buffer.from("\v"), message(), Buffer.from("\x1c\r")]));
  expect(sender.send(message())).toEqual([
    { do: "write", bytes: framed },
    { do: "timer", ms: 1000 },
  ]);
  expect(sender.wrote()).toEqual([{ do: "timer", ms: 1000 }]);
  expect(sender.receive(Buffer.from(ack("AA")))).toEqual([
    { do: "timer", ms: null },
    { do: "settle", outcome: { outcome: "acknowledged", code: "AA", text: null } },
  ]);
  expect([sender.wrote(), sender.timeout(), sender.closed()]).toEqual([[], [], []]);
});

test.each<[string, string, Hl7Outcome]>([
  ["AA", ack("AA"), { outcome: "acknowledged", code: "AA", text: null }],
  ["CA in original mode", ack("CA"), { outcome: "acknowledged", code: "CA", text: null }],
  ["AA after a line break", ack("AA").replace("MSH", "\r\nMSH"), { outcome: "acknowledged", code: "AA", text: null }],
  ["AE", ack("AE", CONTROL_ID, "|database busy"), { outcome: "failed", code: "AE", text: "database busy" }],
  ["CE", ack("CE"), { outcome: "failed", code: "CE", text: null }],
  [
    "AR with ERR of 2.5",
    ack(
      "AR",
      CONTROL_ID,
      "|Rejected\rERR||PID^1^3|204^Unknown key identifier^HL70357|E|||Patient 00417|Ask \\T\\ wait",
    ),
    {
      outcome: "refused",
      code: "AR",
      text: "Rejected; 204 Unknown key identifier HL70357 (PID 1 3); Patient 00417; Ask & wait",
    },
  ],
  [
    "CR with ERR of 2.3",
    ack("CR", CONTROL_ID, "\rERR|PID^1^3^204&Unknown key"),
    { outcome: "refused", code: "CR", text: "PID 1 3 204 Unknown key" },
  ],
  ["an unknown code", ack("OK"), { outcome: "failed", code: "ACK.UNKNOWN_CODE", text: "OK" }],
  ["nothing", "", LOG],
  ["another MSA-2", ack("AA", "W0776"), { outcome: "failed", code: "ACK.FOREIGN", text: "W0776" }],
  ["an empty MSA-2", ack("AA", ""), { outcome: "failed", code: "ACK.FOREIGN", text: "" }],
  [
    "a message without MSA",
    frame("MSH|^~\\&|PIMS\rPID|1\r"),
    { outcome: "failed", code: "ACK.UNREADABLE", text: null },
  ],
  ["HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n", { outcome: "failed", code: "ACK.UNREADABLE", text: null }],
  ["a TLS alert", "\x15\x03\x01\x00\x02\x02\x46", { outcome: "failed", code: "TLS.NEEDED", text: null }],
  ["half a frame", ack("AA").slice(0, -2), LOG],
  ["too long a frame", frame("x".repeat(FRAME_BYTES_MAX + 1)), { outcome: "failed", code: "ACK.TOO_LONG", text: null }],
  ["a late acknowledgement first", ack("AA", "W0776") + ack("AA"), { outcome: "acknowledged", code: "AA", text: null }],
  ["garbage before VT", `garbage${ack("AA")}`, { outcome: "acknowledged", code: "AA", text: null }],
  ["a frame that lost its end", `\vMSH|half${ack("AA")}`, { outcome: "acknowledged", code: "AA", text: null }],
])("after %s the outcome is told by its code", (_, text, outcome) => expect(received(text)).toEqual(outcome));

test.each<[string, string, Hl7Outcome]>([
  ["CA and AA", ack("CA") + ack("AA"), { outcome: "acknowledged", code: "AA", text: null }],
  [
    "CA and AR",
    ack("CA") + ack("AR", CONTROL_ID, "|no such animal"),
    { outcome: "refused", code: "AR", text: "no such animal" },
  ],
  ["CA and AE", ack("CA") + ack("AE"), { outcome: "failed", code: "AE", text: null }],
  ["CA and silence", ack("CA"), { outcome: "acknowledged", code: "CA", text: null }],
  ["CR", ack("CR"), { outcome: "refused", code: "CR", text: null }],
  ["AA alone", ack("AA"), { outcome: "acknowledged", code: "AA", text: null }],
])("in enhanced mode %s settle the message", (_, text, outcome) =>
  expect(received(text, message(CONTROL_ID, ENHANCED))).toEqual(outcome),
);

test("a closed connection fails the message, except after the commit acknowledgement", () => {
  const settledBy = (modes: string, text: string) => {
    const sender = new Hl7Sender(1000);
    sender.send(message(CONTROL_ID, modes));
    sender.receive(Buffer.from(text));
    return sender.closed();
  };
  const settled = (outcome: Hl7Outcome) => [
    { do: "timer", ms: null },
    { do: "settle", outcome },
  ];
  expect(settledBy("", "")).toEqual(settled({ outcome: "failed", code: "ACK.CLOSED", text: null }));
  expect(settledBy(ENHANCED, ack("CA"))).toEqual(settled({ outcome: "acknowledged", code: "CA", text: null }));
});

test("silence closes the connection, so that a late acknowledgement meets no other message", () => {
  const sender = new Hl7Sender(1000);
  sender.send(message());
  expect(sender.timeout()).toEqual([{ do: "timer", ms: null }, { do: "settle", outcome: LOG }, { do: "close" }]);
});

test("a message without MSH-10 is refused, because nothing could acknowledge it", () => {
  const refused = { outcome: "refused", code: "MESSAGE.INVALID", text: null } as const;
  expect(new Hl7Sender(1000).send(message(""))).toEqual([{ do: "settle", outcome: refused }]);
  expect(new Hl7Sender(1000).send(Buffer.from("PID|1\r"))).toEqual([{ do: "settle", outcome: refused }]);
});

test("text of Turkish Windows in an acknowledgement is read as its letters", () => {
  const bytes = Buffer.concat([
    Buffer.from(ack("AR", CONTROL_ID, "|hasta dos").slice(0, -3)),
    Buffer.from([0xfd, 0x1c, 0x0d]),
  ]);
  expect(outcomeOf(message(), [bytes])).toEqual({ outcome: "refused", code: "AR", text: "hasta dosı" });
});

/** Pieces that a receiver may put together in any order. */
const PARTS = [
  ack("AA"),
  ack("CA"),
  ack("AE"),
  ack("AR", CONTROL_ID, "|no"),
  ack("AA", "W0776"),
  ack("AA", "W07770"),
  ack("AA", ""),
  ack("AA").replace(CONTROL_ID, "W07"),
  frame("MSH|^~\\&|PIMS\rNTE|1||MSA|AA|W0777\r"),
  frame("MSA|AA|W0777\r"),
  `MSH|^~\\&|PIMS\rMSA|AA|${CONTROL_ID}\r`,
  "\v",
  "\x1c",
  "\r\n",
  "garbage",
];

test("any split of the received bytes gives the same outcome, and none acknowledges without an MSA of this MSH-10", () => {
  const dice = diceOf(44);
  let acknowledged = 0;
  for (let round = 0; round < 400; round++) {
    const sent = message(CONTROL_ID, round % 2 === 0 ? "" : ENHANCED);
    const text = Array.from({ length: dice(5) }, () => pick(dice, PARTS)).join("");
    const all = Buffer.from(text);
    const outcome = outcomeOf(sent, [all]);
    expect(
      outcomeOf(
        sent,
        Array.from(all, (byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(outcome);
    const cuts = Array.from({ length: 3 }, () => dice(all.length + 1)).toSorted((a, b) => a - b);
    const pieces = [0, ...cuts].map((from, at) => all.subarray(from, cuts[at] ?? all.length));
    expect(outcomeOf(sent, pieces)).toEqual(outcome);
    if (outcome.outcome !== "acknowledged") continue;
    acknowledged += 1;
    const shown = text.replaceAll("\v", "<VT>").replaceAll("\x1c", "<FS>");
    expect(shown).toMatch(/<VT>(?:(?!<VT>)[^])*\rMSA\|(?:AA|CA)\|W0777\r(?:(?!<VT>)[^])*<FS>/);
  }
  expect(acknowledged).toBeGreaterThan(40);
});
