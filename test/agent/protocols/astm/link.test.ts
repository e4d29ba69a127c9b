import { existsSync, readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeFrame } from "../../../../agent/protocols/astm/frame.ts";
import { AstmLink } from "../../../../agent/protocols/astm/link.ts";
import { FRAME_END_TIMEOUT_MS, RECEIVE_TIMEOUT_MS } from "../../../../agent/protocols/astm/receiver.ts";
import { FRAME_BYTES_MAX } from "../../../../agent/protocols/astm/received-frame.ts";
import { MESSAGE_BYTES_MAX } from "../../../../agent/protocols/astm/received-message.ts";
import { ETB, ETX } from "../../../../agent/protocols/bytes.ts";
import { NOISE_BYTES_MAX, NOISE_TIMEOUT_MS } from "../../../../agent/protocols/noise.ts";
import { bytes, checksumOf, complete, frame, received, receiver, sessionOf, show } from "./wire.ts";

const H = "H|\\^&|||Analyzer^1.0";
const P = "P|1||D-77";
const O = "O|1|||^^^CHEM";
const GLU = "R|1|^^^GLU|95|mg/dL";
const CRE = "R|2|^^^CRE|1.1|mg/dL";
const L = "L|1|N";

describe("establishment", () => {
  test("ENQ is acknowledged and starts the 30 s timer", () => {
    const device = receiver();
    device.receive("<ENQ>");
    expect(device.said()).toEqual({ replies: "<ACK>", deliveries: [], warnings: [] });
    expect(device.timer()).toBe(RECEIVE_TIMEOUT_MS);
    expect(RECEIVE_TIMEOUT_MS).toBe(30_000);
  });

  test.each([
    ["ENQ", [], "<ENQ>", false],
    ["EOT between frames", ["<ENQ>"], "<EOT>", false],
    ["EOT and ENQ", ["<ENQ>"], "<EOT><ENQ>", false],
    ["a frame", ["<ENQ>"], frame(1, "H|"), true],
    ["ENQ and the start of a frame", [], "<ENQ><STX>", true],
    ["the last byte of a frame", ["<ENQ>", frame(1, "H|").slice(0, -"<LF>".length)], "<LF>", true],
  ] as const)("%s: mayAccept returns whether it may accept a frame", (_, before, chunk, may) => {
    const device = receiver();
    for (const earlier of before) device.receive(earlier);
    expect(device.link.mayAccept(bytes(chunk))).toBe(may);
  });

  test("in the neutral state everything but ENQ is ignored, and reported after silence", () => {
    const device = receiver();
    const noise = `noise\xff${frame(1, `${H}<CR>`).replace("<CR><LF>", "")}`;
    device.receive(`<EOT><ACK><NAK><CR><LF><NUL>${noise}<CR><LF><EOT>`);
    const said = { replies: "", deliveries: [] };
    expect(device.said()).toEqual({ ...said, warnings: [] });
    expect([device.timer(), device.link.isIdle]).toEqual([NOISE_TIMEOUT_MS, false]);
    device.wait(NOISE_TIMEOUT_MS);
    const count = bytes(noise).filter((byte) => byte !== 13).length;
    expect(device.said()).toEqual({ ...said, warnings: [`${count} bytes outside a session: ignored`] });
    expect([device.timer(), device.link.isIdle]).toEqual([null, true]);
  });

  test("a keep-alive of ENQ EOT makes no message", () => {
    expect(received("<ENQ><EOT><ENQ><EOT><ENQ><EOT>")).toEqual({
      replies: "<ACK><ACK><ACK>",
      deliveries: [],
      warnings: [],
    });
  });

  test("no timer runs after EOT, and the link is at rest", () => {
    const device = receiver();
    expect(device.link.isIdle).toBe(true);
    device.receive("<ENQ>");
    expect(device.link.isIdle).toBe(false);
    device.receive("<EOT>");
    expect(device.link.isIdle).toBe(true);
    expect(device.timer()).toBe(null);
  });

  test("ENQ and silence after the L record start a session, because not every device sends EOT", () => {
    const device = receiver();
    for (let session = 0; session < 3; session++) {
      device.receive("<ENQ>");
      device.wait(FRAME_END_TIMEOUT_MS);
      device.receive(`${frame(1, `${H}<CR>`)}${frame(2, `${L}<CR>`)}`);
    }
    expect(device.said()).toEqual({
      replies: "<ACK>".repeat(9),
      deliveries: [complete(H, L), complete(H, L), complete(H, L)],
      warnings: [],
    });
  });

  test.each([
    ["a frame", `${frame(1, `${H}<CR>`)}<STX>2R|1|^^^GLU|9`, ["a frame was cut short by a new ENQ"]],
    [
      "a checksum",
      `${frame(1, `${H}<CR>`)}${frame(2, `${GLU}<CR>`).slice(0, -"0<CR><LF>".length)}`,
      ["a frame was cut short by a new ENQ"],
    ],
    ["two frames", frame(1, `${H}<CR>`), []],
  ])(
    "ENQ and silence within %s start a session, because a device that waits sends nothing else",
    (_, begun, warnings) => {
      const device = receiver();
      device.receive(`<ENQ>${begun}<ENQ>`);
      expect(device.replies()).toBe("<ACK><ACK>");
      device.wait(FRAME_END_TIMEOUT_MS);
      device.receive(sessionOf(H, L).slice("<ENQ>".length));
      expect(device.said()).toEqual({
        replies: "<ACK>".repeat(5),
        deliveries: [{ message: `${H}<CR>`, incomplete: "a new session began before the L record" }, complete(H, L)],
        warnings,
      });
    },
  );

  test("a doubled ENQ gets one ACK, because the next reply counts for the first frame", () => {
    const device = receiver();
    device.receive("<ENQ><ENQ>");
    device.wait(FRAME_END_TIMEOUT_MS);
    expect([device.replies(), device.timer()]).toEqual(["<ACK>", RECEIVE_TIMEOUT_MS - FRAME_END_TIMEOUT_MS]);
  });

  test("a damaged byte that reads as ENQ within a frame starts no session, and the frame gets NAK", () => {
    const device = receiver();
    device.receive(`<ENQ><STX>1H|<ENQ>`);
    device.receive(`^&<CR><ETX>E5<CR><LF>`);
    device.wait(FRAME_END_TIMEOUT_MS);
    expect([device.replies(), device.timer()]).toEqual(["<ACK><NAK>", RECEIVE_TIMEOUT_MS - FRAME_END_TIMEOUT_MS]);
  });

  test("ENQ within a session is ignored, because it may be a damaged STX", () => {
    const damaged = frame(2, `${L}<CR>`).replace("<STX>", "<ENQ>");
    expect(received(`<ENQ><ENQ>${frame(1, `${H}<CR>`)}${damaged}${frame(2, `${L}<CR>`)}<EOT>`)).toEqual({
      replies: "<ACK><ACK><ACK>",
      deliveries: [complete(H, L)],
      warnings: [`${bytes(damaged).length - 4} bytes between frames: ignored`],
    });
  });
});

describe("checksums", () => {
  test.each([
    ["7 and L, VITROS 3600", "<STX>7L|1|N<CR><ETX>0A<CR><LF>"],
    ["3 and L, VetScan VS2", "<STX>3L|1|N<CR><ETX>06<CR><LF>"],
    ["2 and P, VITROS 3600", "<STX>2P|1<CR><ETX>3F<CR><LF>"],
    ["6 and C, VetScan VS2", "<STX>6C|3|I|^^|G<CR><ETX>F8<CR><LF>"],
  ])("frame %s has the checksum captured on a real line", (_, wire) => {
    const [, number, text] = /<STX>(\d)(.*)<ETX>/.exec(wire) ?? [];
    expect(show(encodeFrame(Number(number), bytes(text ?? ""), ETX))).toBe(wire);
    const device = receiver();
    device.receive("<ENQ>");
    for (let before = 1; before < Number(number); before++) device.receive(frame(before, ""));
    device.receive(wire);
    expect(device.said().warnings).toEqual([]);
    expect(device.replies()).toBe("<ACK>".repeat(1 + Number(number)));
  });

  test("the sum includes the frame number and ETB or ETX", () => {
    // 33 4C 7C 31 7C 4E 0D add up to 203h; ETX makes it 206h, ETB 21Ah.
    expect(show(encodeFrame(3, bytes("L|1|N<CR>"), ETX))).toBe("<STX>3L|1|N<CR><ETX>06<CR><LF>");
    expect(show(encodeFrame(3, bytes("L|1|N<CR>"), ETB))).toBe("<STX>3L|1|N<CR><ETB>1A<CR><LF>");
  });

  test("a frame with a wrong checksum gets NAK, and its resend is counted once", () => {
    const session = `<ENQ>${frame(1, `${H}<CR>`, "ETX", "00")}${frame(1, `${H}<CR>`)}${frame(2, `${L}<CR>`)}<EOT>`;
    expect(received(session)).toEqual({
      replies: "<ACK><NAK><ACK><ACK>",
      deliveries: [complete(H, L)],
      warnings: [`checksum 00, computed ${checksumOf(`1${H}<CR><ETX>`)}`],
    });
  });

  test("an ETB frame with the sum of ETX gets NAK", () => {
    const asIfEtx = checksumOf("1H|\\^&<CR><ETX>");
    expect(received(`<ENQ>${frame(1, "H|\\^&<CR>", "ETB", asIfEtx)}`)).toEqual({
      replies: "<ACK><NAK>",
      deliveries: [],
      warnings: [`checksum ${asIfEtx}, computed ${checksumOf("1H|\\^&<CR><ETB>")}`],
    });
  });

  test("a rejected ETB frame leaves no trace", () => {
    const session = `<ENQ>${frame(1, `${H}<CR>R|1|^^^GLU|9`, "ETB")}${frame(2, `9|mg/dL<CR>`, "ETB", "00")}${frame(2, `5|mg/dL<CR>`, "ETB")}${frame(3, `${L}<CR>`)}<EOT>`;
    expect(received(session)).toEqual({
      replies: "<ACK><ACK><NAK><ACK><ACK>",
      deliveries: [complete(H, GLU, L)],
      warnings: [`checksum 00, computed ${checksumOf("29|mg/dL<CR><ETB>")}`],
    });
  });

  test("a checksum in lower case is accepted", () => {
    expect(received("<ENQ><STX>1H|\\^&<CR><ETX>e5<CR><LF>")).toEqual({
      replies: "<ACK><ACK>",
      deliveries: [],
      warnings: [],
    });
  });

  test.each(["G0", "0G", " 6", "6 ", "0x", "@0", "`0", ":0", "/0"])("%j is an invalid checksum", (sum) => {
    expect(received(`<ENQ>${frame(1, "L|1|N<CR>", "ETX", sum)}`)).toEqual({
      replies: "<ACK><NAK>",
      deliveries: [],
      warnings: ["checksum is not two hex digits, computed 04"],
    });
  });
});

describe("frame numbers", () => {
  test("twenty frames count from 1, and 0 follows 7", () => {
    const results = Array.from({ length: 18 }, (_, index) => `R|${index + 1}|^^^T${index}|${index}`);
    expect(received(sessionOf(H, ...results, L))).toEqual({
      replies: "<ACK>".repeat(21),
      deliveries: [complete(H, ...results, L)],
      warnings: [],
    });
  });

  test("frame 1 after frame 7 is rejected", () => {
    const frames = Array.from({ length: 7 }, (_, index) => frame(index + 1, `C|${index}<CR>`)).join("");
    expect(received(`<ENQ>${frames}${frame(1, "C|7<CR>")}`)).toEqual({
      replies: "<ACK>".repeat(8) + "<NAK>",
      deliveries: [],
      warnings: ["frame number 1, expected 0"],
    });
  });

  test("a skipped number gets NAK until the missing frame comes", () => {
    const session = `<ENQ>${frame(1, `${H}<CR>`)}${frame(5, `${GLU}<CR>`)}${frame(3, `${L}<CR>`)}${frame(2, `${GLU}<CR>`)}${frame(3, `${L}<CR>`)}<EOT>`;
    expect(received(session)).toEqual({
      replies: "<ACK><ACK><NAK><NAK><ACK><ACK>",
      deliveries: [complete(H, GLU, L)],
      warnings: ["frame number 5, expected 2", "frame number 3, expected 2"],
    });
  });

  test("a repeated frame is acknowledged and counted once", () => {
    const session = `<ENQ>${frame(1, `${H}<CR>`)}${frame(2, `${GLU}<CR>`).repeat(3)}${frame(3, `${L}<CR>`).repeat(2)}<EOT>`;
    expect(received(session)).toEqual({
      replies: "<ACK>".repeat(7),
      deliveries: [complete(H, GLU, L)],
      warnings: [
        "frame 2 was repeated: acknowledged, not counted again",
        "frame 2 was repeated: acknowledged, not counted again",
        "frame 3 was repeated: acknowledged, not counted again",
      ],
    });
  });

  test.each([
    ["text", frame(1, "H|\\^&|||B<CR>")],
    ["length", frame(1, "H|\\^&|||A<CR>C|1<CR>")],
    ["length, a prefix,", frame(1, "H|\\^&|||A")],
    ["end", frame(1, "H|\\^&|||A<CR>", "ETB")],
  ])("the number of the last frame with another %s gets NAK", (_, second) => {
    expect(received(`<ENQ>${frame(1, "H|\\^&|||A<CR>")}${second}`)).toEqual({
      replies: "<ACK><ACK><NAK>",
      deliveries: [],
      warnings: ["frame number 1, expected 2"],
    });
  });

  test("only the last frame can be repeated", () => {
    expect(received(`<ENQ>${frame(1, `${H}<CR>`)}${frame(2, `${GLU}<CR>`)}${frame(1, `${H}<CR>`)}`)).toEqual({
      replies: "<ACK><ACK><ACK><NAK>",
      deliveries: [],
      warnings: ["frame number 1, expected 3"],
    });
  });

  test("the same text eight frames later is a new frame", () => {
    const comment = "C|1|I|^^|G";
    const records = [H, ...Array.from({ length: 12 }, () => comment), L];
    expect(received(sessionOf(...records)).deliveries).toEqual([complete(...records)]);
  });

  test.each(["0", "2", "8", "9", "/", "A", " "])("a session whose first frame is %j gets NAK", (number) => {
    const device = receiver();
    device.receive(sessionOf(H, L));
    device.receive(`<ENQ>${frame(number, `${L}<CR>`)}`);
    expect(device.replies()).toBe("<ACK><ACK><ACK><ACK><NAK>");
    expect(device.deliveries).toEqual([complete(H, L)]);
  });

  test("the last frame of a session does not count as repeated in the next", () => {
    // One below "0": no frame precedes the first.
    for (const number of ["/", "1"]) {
      const device = receiver();
      device.receive(`<ENQ>${frame(1, `${L}<CR>`)}<EOT><ENQ>${frame(number, `${L}<CR>`)}`);
      expect(device.said().warnings).toEqual(number === "1" ? [] : ["frame number byte 2F, expected 1"]);
      expect(device.deliveries).toHaveLength(number === "1" ? 2 : 1);
    }
  });

  test("numbers continue across the messages of a session, and restart with the next session", () => {
    const first = sessionOf(H, L, H, GLU, L);
    expect(received(first + first)).toEqual({
      replies: "<ACK>".repeat(12),
      deliveries: [complete(H, L), complete(H, GLU, L), complete(H, L), complete(H, GLU, L)],
      warnings: [],
    });
  });
});

describe("frame numbers of devices that count otherwise", () => {
  test("each message of a session may count from 1 again", () => {
    const message = [frame(1, `${H}<CR>`), frame(2, `${GLU}<CR>`), frame(3, `${L}<CR>`)].join("");
    expect(received(`<ENQ>${message}${message}<EOT>`)).toEqual({
      replies: "<ACK>".repeat(7),
      deliveries: [complete(H, GLU, L), complete(H, GLU, L)],
      warnings: [],
    });
  });

  test("a session may count from 0", () => {
    const frames = [frame(0, `${H}<CR>`), frame(1, `${GLU}<CR>`), frame(1, `${GLU}<CR>`), frame(2, `${L}<CR>`)];
    expect(received(`<ENQ>${frames.join("")}<EOT>`)).toEqual({
      replies: "<ACK>".repeat(5),
      deliveries: [complete(H, GLU, L)],
      warnings: ["frame 1 was repeated: acknowledged, not counted again"],
    });
  });

  test("a message under way does not start again", () => {
    const frames = [frame(1, `${H}<CR>`), frame(2, `${GLU}<CR>`), frame(0, `${H}<CR>`), frame(3, `${L}<CR>`)];
    expect(received(`<ENQ>${frames.join("")}<EOT>`)).toEqual({
      replies: "<ACK><ACK><ACK><NAK><ACK>",
      deliveries: [complete(H, GLU, L)],
      warnings: ["frame number 0, expected 3"],
    });
  });

  test("a frame with LF in place of CR is counted once", () => {
    const frames = [frame(1, `${H}<LF>`), frame(2, `${GLU}<LF>`).repeat(2), frame(3, `${L}<LF>`)];
    expect(received(`<ENQ>${frames.join("")}<EOT>`).deliveries).toEqual([complete(H, GLU, L)]);
  });
});

describe("frame ends", () => {
  test.each([
    ["CR LF", "<CR><LF>"],
    ["LF alone", "<LF>"],
    ["LF CR", "<LF><CR>"],
  ])("%s ends a frame immediately", (_, end) => {
    const device = receiver();
    device.receive(`<ENQ>${frame(1, `${H}<CR>`).replace(/<CR><LF>$/, end)}`);
    device.receive(frame(2, `${L}<CR>`).replace(/<CR><LF>$/, end));
    expect(device.said()).toEqual({ replies: "<ACK><ACK><ACK>", deliveries: [complete(H, L)], warnings: [] });
  });

  test.each([
    ["LF", "<CR>"],
    ["CR LF", ""],
  ])("a device that omits %s and waits gets its reply after a short silence", (_, end) => {
    const device = receiver();
    device.receive(`<ENQ>${frame(1, `${H}<CR>${L}<CR>`).replace(/<CR><LF>$/, end)}`);
    expect(device.replies()).toBe("<ACK>");
    expect(device.timer()).toBe(FRAME_END_TIMEOUT_MS);
    device.wait(FRAME_END_TIMEOUT_MS);
    expect(device.said()).toEqual({ replies: "<ACK><ACK>", deliveries: [complete(H, L)], warnings: [] });
    expect(device.timer()).toBe(RECEIVE_TIMEOUT_MS);
  });

  test.each([
    ["LF", "<CR>"],
    ["CR LF", ""],
  ])("a device that omits %s and does not wait is received", (_, end) => {
    const session = sessionOf(H, GLU, L).replaceAll(/<CR><LF>/g, end);
    expect(received(session)).toEqual({ replies: "<ACK>".repeat(4), deliveries: [complete(H, GLU, L)], warnings: [] });
  });

  test("a wrong checksum without CR LF gets NAK after the silence", () => {
    const device = receiver();
    device.receive("<ENQ><STX>1L|1|N<CR><ETX>FF");
    device.wait(FRAME_END_TIMEOUT_MS);
    expect(device.said()).toEqual({
      replies: "<ACK><NAK>",
      deliveries: [],
      warnings: ["checksum FF, computed 04"],
    });
  });

  test("a frame that continues after its checksum gets NAK, because its ETX was a damaged byte", () => {
    const cut = "1H|\\^&|||<ETX>";
    const session = `<ENQ><STX>${cut}${checksumOf(cut)}nalyzer<CR><ETX>00<CR><LF>${frame(1, `${H}<CR>`)}`;
    expect(received(session)).toEqual({
      replies: "<ACK><NAK><ACK>",
      deliveries: [],
      warnings: ["the checksum is not followed by CR LF"],
    });
  });
});

describe("noise", () => {
  test("bytes before STX, between frames and before EOT give one warning per run", () => {
    const session = `<ENQ>~\xff<CR><LF>${frame(1, `${H}<CR>`)}xyz<ACK>${frame(2, `${L}<CR>`)}<NAK><LF><EOT>`;
    expect(received(session)).toEqual({
      replies: "<ACK><ACK><ACK>",
      deliveries: [complete(H, L)],
      warnings: [2, 4, 1].map((count) => `${count} byte${count === 1 ? "" : "s"} between frames: ignored`),
    });
  });

  test("the rest of a rejected frame gives no further warning", () => {
    const session = `<ENQ><STX>1H<ETX>XYmore of it<CR><LF>${frame(1, `${H}<CR>`)}`;
    expect(received(session)).toMatchObject({
      replies: "<ACK><NAK><ACK>",
      warnings: ["the checksum is not followed by CR LF"],
    });
  });

  test("line ends, breaks and flow control between frames and sessions are ignored", () => {
    const usual = "<CR><LF><NUL>\x11\x13";
    const session = `${usual}<ENQ>${usual}${frame(1, `${H}<CR>`)}${usual}${frame(2, `${L}<CR>`)}${usual}<EOT>${usual}`;
    const device = receiver();
    device.receive(session);
    expect([device.said().warnings, device.timer()]).toEqual([[], null]);
  });

  test("a message of another protocol gives one warning with its start", () => {
    const message = `<VT>MSH|^~\\&|Analyzer${"<CR>OBX|1|NM|GLU||95".repeat(100)}<FS><CR>`;
    const device = receiver();
    device.receive(message);
    device.wait(NOISE_TIMEOUT_MS);
    const sent = bytes(message);
    const noise = sent.filter((byte) => byte !== 13);
    expect(device.actions).toEqual([
      {
        do: "warn",
        reason: `${noise.length} bytes outside a session: ignored`,
        noise: { bytes: noise.length, head: Uint8Array.from(sent.subarray(0, 512)) },
      },
    ]);
  });

  test("endless noise is reported in pieces", () => {
    const reason = `${NOISE_BYTES_MAX} bytes outside a session: ignored`;
    for (const length of [NOISE_BYTES_MAX, 1000]) {
      const device = receiver();
      for (let sent = 0; sent < 2 * NOISE_BYTES_MAX; sent += length) {
        device.receiveBytes(Buffer.alloc(Math.min(length, 2 * NOISE_BYTES_MAX - sent), "x"));
      }
      expect(device.said().warnings).toEqual([reason, reason]);
    }
  });

  test("noise leaves the timer of a waiting message alone, and is reported with the next session", () => {
    const device = receiver();
    device.send(`${H}<CR>${L}<CR>`);
    device.receive("<ENQ>");
    const waits = device.timer();
    device.receive("noise");
    expect(device.timer()).toBe(waits);
    device.receive("<ENQ>");
    expect(device.said().warnings).toEqual(["5 bytes outside a session: ignored"]);
  });

  test("noise does not extend the 30 s timer", () => {
    const device = receiver();
    device.receive(`<ENQ>${frame(1, `${H}<CR>`)}`);
    device.wait(29_000);
    device.receive("noise");
    expect(device.timer()).toBe(1_000);
  });

  test("STX within text does not restart the frame", () => {
    const tail = `1${L}<CR><ETX>`;
    const session = `<ENQ><STX>1${H}<CR>R|1<STX>${tail}${checksumOf(tail)}<CR><LF>`;
    expect(received(session).replies).toBe("<ACK><NAK>");
  });

  test("NUL within text is dropped", () => {
    const [head, tail] = [frame(1, `${H}<CR>R|1|^^^GLU|9`).replace(/<ETX>.*/, ""), "5|mg/dL<CR>"];
    const sum = checksumOf(`1${H}<CR>R|1|^^^GLU|95|mg/dL<CR><ETX>`);
    const session = `<ENQ>${head}<NUL>${tail}<ETX>${sum}<CR><LF>${frame(2, `${L}<CR>`)}<EOT>`;
    expect(received(session)).toEqual({ replies: "<ACK><ACK><ACK>", deliveries: [complete(H, GLU, L)], warnings: [] });
  });
});

describe("messages", () => {
  test("a message is delivered with its L record, before EOT", () => {
    const device = receiver();
    device.receive(sessionOf(H, P, O, GLU, L).replace("<EOT>", ""));
    expect(device.deliveries).toEqual([complete(H, P, O, GLU, L)]);
    device.receive("<EOT>");
    expect(device.deliveries).toHaveLength(1);
  });

  test("the delivery comes before the ACK of its last frame", () => {
    const device = receiver();
    device.receive(`<ENQ>${frame(1, `${H}<CR>${L}<CR>`)}`);
    expect(device.actions.map((action) => action.do)).toEqual(["reply", "deliver", "reply"]);
  });

  test("a message in a single frame is delivered", () => {
    const records = [H, P, O, GLU, CRE, L];
    expect(received(`<ENQ>${frame(1, records.map((record) => `${record}<CR>`).join(""))}<EOT>`).deliveries).toEqual([
      complete(...records),
    ]);
  });

  test("a message of ETB frames with ETX only on L, as of a cobas c111, is delivered", () => {
    const session = `<ENQ>${[H, P, O, GLU].map((record, index) => frame(index + 1, `${record}<CR>`, "ETB")).join("")}${frame(5, `${L}<CR>`)}<EOT>`;
    expect(received(session).deliveries).toEqual([complete(H, P, O, GLU, L)]);
  });

  test("text split across ETB frames is joined unchanged", () => {
    const text = [H, P, O, GLU, CRE, L].map((record) => `${record}\r`).join("");
    for (let size = 1; size <= text.length; size++) {
      const parts = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      const frames = parts.map((part, index) =>
        frame((index + 1) % 8, part, index === parts.length - 1 ? "ETX" : "ETB"),
      );
      expect(received(`<ENQ>${frames.join("")}<EOT>`)).toEqual({
        replies: "<ACK>".repeat(frames.length + 1),
        deliveries: [complete(H, P, O, GLU, CRE, L)],
        warnings: [],
      });
    }
  });

  test("an ETX frame without CR is continued by the next", () => {
    const session = `<ENQ>${frame(1, `${H}<CR>R|1|^^^GLU|9`)}${frame(2, "5|mg/dL<CR>")}${frame(3, `${L}<CR>`)}<EOT>`;
    expect(received(session).deliveries).toEqual([complete(H, GLU, L)]);
  });

  test("an L record without CR ends the message at ETX, and not at ETB", () => {
    expect(received(`<ENQ>${frame(1, `${H}<CR>${L}`)}`).deliveries).toEqual([
      { message: `${H}<CR>${L}`, incomplete: null },
    ]);
    const device = receiver();
    device.receive(`<ENQ>${frame(1, `${H}<CR>L|1`, "ETB")}`);
    expect(device.deliveries).toEqual([]);
    device.receive(frame(2, "|N<CR>"));
    expect(device.deliveries).toEqual([complete(H, L)]);
  });

  test("record types in lower case are recognized", () => {
    expect(received(sessionOf("h|\\^&", "r|1|^^^GLU|95", "l|1|n", "h|\\^&", "h|\\^&", "l|1|n")).deliveries).toEqual([
      complete("h|\\^&", "r|1|^^^GLU|95", "l|1|n"),
      { message: "h|\\^&<CR>", incomplete: "a new H record came before the L record" },
      complete("h|\\^&", "l|1|n"),
    ]);
  });

  test("records that only start with L or H are neither", () => {
    const session = sessionOf(H, "LOT|5", "Hb|5", "L2|1", "H0|1", L);
    expect(received(session).deliveries).toEqual([complete(H, "LOT|5", "Hb|5", "L2|1", "H0|1", L)]);
  });

  test("L alone, and L with another delimiter, end a message", () => {
    expect(received(sessionOf("H!\\^&", "L!1!N", H, "L")).deliveries).toEqual([
      complete("H!\\^&", "L!1!N"),
      complete(H, "L"),
    ]);
  });

  test("an L or H at the start of a frame that continues a record ends nothing", () => {
    const session = `<ENQ>${frame(1, `${H}<CR>C|1|I|`, "ETB")}${frame(2, "L|1|N and ", "ETB")}${frame(3, "H|\\^&<CR>", "ETB")}${frame(4, `${L}<CR>`)}`;
    expect(received(session).deliveries).toEqual([complete(H, "C|1|I|L|1|N and H|\\^&", L)]);
  });

  test("several messages in a session, or in a frame, are separate deliveries", () => {
    expect(received(sessionOf(H, GLU, L, H, CRE, L)).deliveries).toEqual([complete(H, GLU, L), complete(H, CRE, L)]);
    const oneFrame = [H, GLU, L, H, CRE, L].map((record) => `${record}<CR>`).join("");
    expect(received(`<ENQ>${frame(1, oneFrame)}<EOT>`).deliveries).toEqual([complete(H, GLU, L), complete(H, CRE, L)]);
  });

  test("records may end in CR LF, and the last LF makes no message", () => {
    const oneFrame = `${H}<CR><LF>${GLU}<CR><LF>${L}<CR><LF>`;
    expect(received(`<ENQ>${frame(1, oneFrame)}${frame(2, oneFrame)}<EOT>`)).toEqual({
      replies: "<ACK><ACK><ACK>",
      deliveries: [complete(H, GLU, L), complete(H, GLU, L)],
      warnings: [],
    });
    // The LF may start the next frame.
    const split = `<ENQ>${frame(1, `${H}<CR>`, "ETB")}${frame(2, `<LF>${L}<CR>`, "ETB")}${frame(3, "<LF>")}<EOT>`;
    expect(received(split).deliveries).toEqual([complete(H, L)]);
  });

  test("every byte above 7F and all of UTF-8 is delivered", () => {
    const text = Array.from({ length: 128 }, (_, index) => String.fromCharCode(128 + index)).join("");
    expect(received(sessionOf(H, `C|1|I|${text}`, L)).deliveries).toEqual([complete(H, `C|1|I|${text}`, L)]);
    const utf8 = Buffer.from("C|1|I|Müller, 王, Ω").toString("latin1");
    expect(received(sessionOf(H, utf8, L)).deliveries).toEqual([complete(H, utf8, L)]);
  });

  test("an empty frame is acknowledged and adds nothing", () => {
    expect(received(`<ENQ>${frame(1, "")}${frame(2, `${H}<CR>`)}${frame(3, "")}${frame(4, `${L}<CR>`)}<EOT>`)).toEqual({
      replies: "<ACK>".repeat(5),
      deliveries: [complete(H, L)],
      warnings: [],
    });
  });
});

describe("messages that are cut short", () => {
  const begun = `<ENQ>${frame(1, `${H}<CR>`)}${frame(2, `${GLU}<CR>`)}`;

  test("EOT cuts a message", () => {
    expect(received(`${begun}<EOT>`)).toEqual({
      replies: "<ACK><ACK><ACK>",
      deliveries: [{ message: `${H}<CR>${GLU}<CR>`, incomplete: "the session ended before the L record" }],
      warnings: [],
    });
  });

  test("EOT after an ETB frame cuts a message within a record", () => {
    expect(received(`${begun}${frame(3, "R|2|^^^CRE|1.", "ETB")}<EOT>`).deliveries).toEqual([
      {
        message: `${H}<CR>${GLU}<CR>R|2|^^^CRE|1.`,
        incomplete: "the session ended before the L record",
      },
    ]);
  });

  test("30 s of silence cut a message, and the link is neutral", () => {
    const device = receiver();
    device.receive(begun);
    device.wait(RECEIVE_TIMEOUT_MS - 1);
    expect(device.deliveries).toEqual([]);
    device.wait(1);
    expect(device.said()).toEqual({
      replies: "<ACK><ACK><ACK>",
      deliveries: [{ message: `${H}<CR>${GLU}<CR>`, incomplete: "the device fell silent before the L record" }],
      warnings: ["no frame within 30 s"],
    });
    expect(device.link.isIdle).toBe(true);
    expect(device.timer()).toBe(null);
    device.receive(`${frame(3, `${L}<CR>`)}${sessionOf(H, L)}`);
    expect(device.deliveries.slice(1)).toEqual([complete(H, L)]);
  });

  test.each([
    ["the frame number", "<STX>"],
    ["text", "<STX>3R|2"],
    ["the checksum", "<STX>3R|2<CR><ETX>"],
    ["the second digit", "<STX>3R|2<CR><ETX>0"],
  ])("silence before %s cuts a message without its unfinished frame", (_, head) => {
    const device = receiver();
    device.receive(begun + head);
    device.wait(RECEIVE_TIMEOUT_MS);
    expect(device.said()).toEqual({
      replies: "<ACK><ACK><ACK>",
      deliveries: [{ message: `${H}<CR>${GLU}<CR>`, incomplete: "the device fell silent before the L record" }],
      warnings: ["no frame within 30 s"],
    });
  });

  test("the end of the connection cuts a message", () => {
    const device = receiver();
    device.receive(`${begun}<STX>3R|2`);
    device.close();
    device.close();
    expect(device.deliveries).toEqual([
      { message: `${H}<CR>${GLU}<CR>`, incomplete: "the connection closed before the L record" },
    ]);
    expect(device.link.isIdle).toBe(true);
  });

  test("a closed connection drops the frame without CR LF, which was not acknowledged", () => {
    const device = receiver();
    device.receive(`${begun}${frame(3, `${L}<CR>`).replace("<CR><LF>", "")}`.replace(/<CR><LF>$/, ""));
    device.close();
    expect(device.said()).toEqual({
      replies: "<ACK><ACK><ACK>",
      deliveries: [{ message: `${H}<CR>${GLU}<CR>`, incomplete: "the connection closed before the L record" }],
      warnings: [],
    });
  });

  test("a new H cuts a message", () => {
    expect(received(`${begun}${frame(3, `${H}<CR>`)}${frame(4, `${L}<CR>`)}<EOT>`)).toEqual({
      replies: "<ACK>".repeat(5),
      deliveries: [
        { message: `${H}<CR>${GLU}<CR>`, incomplete: "a new H record came before the L record" },
        complete(H, L),
      ],
      warnings: [],
    });
  });

  test("EOT ENQ within a frame cuts a message and starts a session", () => {
    expect(received(`${begun}<STX>3R|2|^^^CRE<EOT>${sessionOf(H, L)}`)).toEqual({
      replies: "<ACK>".repeat(6),
      deliveries: [
        { message: `${H}<CR>${GLU}<CR>`, incomplete: "a new session began before the L record" },
        complete(H, L),
      ],
      warnings: ["a frame was cut short by EOT and a new ENQ"],
    });
  });

  test("a close, timeout or gap at rest gives no action", () => {
    const device = receiver();
    device.close();
    device.gap();
    expect(device.link.timeout()).toEqual([]);
    expect(device.said()).toEqual({ replies: "", deliveries: [], warnings: [] });
    expect(device.link.isIdle).toBe(true);
  });
});

describe("bounds", () => {
  test("a frame with 64 000 bytes of text is accepted", () => {
    const message = `${H}\rM|1|${"x".repeat(64_000)}\r${L}\r`;
    expect(received(`<ENQ>${frame(1, message)}`).deliveries.map((delivery) => delivery.message.length)).toEqual([
      message.replaceAll("\r", "<CR>").length,
    ]);
  });

  test("a frame beyond the limit gets one NAK, and the next one is read", () => {
    const device = receiver();
    device.receive("<ENQ>");
    device.receive(frame(1, "x".repeat(FRAME_BYTES_MAX + 5_000)));
    device.receive(frame(1, `${H}<CR>${L}<CR>`));
    expect(device.said()).toEqual({
      replies: "<ACK><NAK><ACK>",
      deliveries: [complete(H, L)],
      warnings: ["frame of more than 1048576 bytes"],
    });
  });

  test("the max frame is one byte below the limit", () => {
    for (const [length, replies] of [[FRAME_BYTES_MAX - 1, "<ACK><ACK>"]] as const) {
      expect(received(`<ENQ>${frame(1, "x".repeat(length))}`).replies).toBe(replies);
    }
  });

  test("frames beyond the max message get NAK, and the start is delivered as incomplete", () => {
    const device = receiver();
    device.receive("<ENQ>");
    const part = "x".repeat(1_000_000);
    const frames = Math.floor(MESSAGE_BYTES_MAX / part.length);
    for (let count = 1; count <= frames; count++) device.receive(frame(count % 8, part, "ETB"));
    expect(device.replies()).toBe("<ACK>".repeat(frames + 1));
    for (let attempt = 0; attempt < 6; attempt++) device.receive(frame((frames + 1) % 8, part, "ETB"));
    expect(device.replies()).toBe("<ACK>".repeat(frames + 1) + "<NAK>".repeat(6));
    device.receive("<EOT>");
    expect(device.deliveries.map((delivery) => [delivery.message.length, delivery.incomplete])).toEqual([
      [frames * part.length, "the session ended before the L record"],
    ]);
    device.receive(sessionOf(H, L));
    expect(device.deliveries.slice(1)).toEqual([complete(H, L)]);
  });

  test("the length of one message does not count for the next of its session", () => {
    const device = receiver();
    device.receive("<ENQ>");
    const message = bytes(`${H}<CR>M|1|${"x".repeat(900_000)}<CR>${L}<CR>`);
    for (let count = 1; count <= 40; count++) device.receiveBytes(encodeFrame(count, message, ETX));
    expect(device.deliveries).toHaveLength(40);
    expect(device.replies()).toBe("<ACK>".repeat(41));
  });
});

describe("refused bytes", () => {
  test("ENQ gets NAK, and its repetition starts the session", () => {
    const device = receiver();
    device.refuse("<ENQ>");
    expect(device.said()).toEqual({
      replies: "<NAK>",
      deliveries: [],
      warnings: ["cannot store: session refused"],
    });
    expect(device.link.isIdle).toBe(true);
    expect(device.timer()).toBe(null);
    device.receive(sessionOf(H, L));
    expect(device.deliveries).toEqual([complete(H, L)]);
  });

  test("a frame gets one NAK, and its resend is accepted", () => {
    const device = receiver();
    device.receive(`<ENQ>${frame(1, `${H}<CR>`)}`);
    device.refuse(frame(2, `${GLU}<CR>`));
    device.gap();
    device.receive(frame(2, `${GLU}<CR>`));
    device.receive(`${frame(3, `${L}<CR>`)}<EOT>`);
    expect(device.said()).toEqual({
      replies: "<ACK><ACK><NAK><ACK><ACK>",
      deliveries: [complete(H, GLU, L)],
      warnings: ["cannot store: frame refused"],
    });
  });

  test("a refused part refuses its complete frame", () => {
    const wire = bytes(frame(2, `${GLU}<CR>`));
    for (let from = 0; from < wire.length; from++) {
      for (let to = from + 1; to <= wire.length; to++) {
        const device = receiver();
        device.receive(`<ENQ>${frame(1, `${H}<CR>`)}`);
        device.receiveBytes(wire.subarray(0, from));
        device.refuseBytes(wire.subarray(from, to));
        device.gap();
        device.receiveBytes(wire.subarray(to));
        device.wait(FRAME_END_TIMEOUT_MS);
        expect(device.replies()).toBe("<ACK><ACK><NAK>");
        device.receive(`${frame(2, `${GLU}<CR>`)}${frame(3, `${L}<CR>`)}<EOT>`);
        expect(device.deliveries).toEqual([complete(H, GLU, L)]);
      }
    }
  });

  test("a frame without LF gets NAK after a short silence, and the session continues", () => {
    const device = receiver();
    device.receive(`<ENQ>${frame(1, `${H}<CR>`)}`);
    device.refuse(frame(2, `${L}<CR>`).replace(/<LF>$/, ""));
    expect(device.replies()).toBe("<ACK><ACK>");
    device.wait(FRAME_END_TIMEOUT_MS);
    expect(device.replies()).toBe("<ACK><ACK><NAK>");
    device.receive(frame(2, `${L}<CR>`));
    expect(device.deliveries).toEqual([complete(H, L)]);
  });

  test("EOT ends the session; without it in the replay, the next ENQ does", () => {
    const device = receiver();
    const record = receiver();
    for (const each of [device, record]) each.receive(`<ENQ>${frame(1, `${H}<CR>`)}`);
    device.refuse("<EOT>");
    record.gap();
    expect(device.link.isIdle).toBe(true);
    for (const each of [device, record]) each.receive(sessionOf(H, GLU, L));
    expect(device.replies()).toBe("<ACK>".repeat(6));
    expect(record.deliveries.map((delivery) => delivery.message)).toEqual(
      device.deliveries.map((delivery) => delivery.message),
    );
    expect(device.deliveries).toEqual([
      { message: `${H}<CR>`, incomplete: "the session ended before the L record" },
      complete(H, GLU, L),
    ]);
  });

  test("ENQ in place of the resend's STX accepts nothing", () => {
    const device = receiver();
    device.receive(`<ENQ>${frame(1, `${H}<CR>`)}`);
    device.refuse(frame(2, `${L}<CR>`));
    device.receive(frame(2, `${L}<CR>`).replace("<STX>", "<ENQ>"));
    expect(device.replies()).toBe("<ACK><ACK><NAK>");
    expect(device.timer()).toBe(RECEIVE_TIMEOUT_MS);
  });

  test("a frame with only its end stored gets NAK at its end", () => {
    const device = receiver();
    device.receive("<ENQ>");
    device.refuse("<STX>1H|\\^&");
    device.receive("<CR><ETX>E5<CR><LF>");
    expect(device.replies()).toBe("<ACK><NAK>");
    expect(device.timer()).toBe(RECEIVE_TIMEOUT_MS);
  });

  test("an accepted frame closes the gap, and ENQ is ignored again", () => {
    const device = receiver();
    device.receive("<ENQ>");
    device.refuse("<STX>");
    device.receive(`${frame(1, `${H}<CR>`)}<ENQ>${frame(2, `${L}<CR>`)}`);
    expect(device.deliveries).toEqual([complete(H, L)]);
  });

  test("a new session closes the gap, and ENQ does not extend its timer", () => {
    const device = receiver();
    device.receive("<ENQ>");
    device.refuse("<STX>");
    device.receive("<EOT><ENQ>");
    device.wait(10_000);
    device.receive("<ENQ>");
    expect(device.timer()).toBe(RECEIVE_TIMEOUT_MS - 10_000);
  });

  test("refused noise and frame ends get no reply", () => {
    const device = receiver();
    device.refuse("noise<LF><STX><EOT>");
    device.receive(`<ENQ>${frame(1, `${H}<CR>`)}`);
    device.refuse("<CR><LF>noise<LF>");
    expect(device.replies()).toBe("<ACK><ACK>");
    device.refuse("<EOT><ENQ>");
    expect(device.replies()).toBe("<ACK><ACK><NAK>");
  });
});

/** Streams of the tests above, for tests that cut and damage them. */
const STREAMS: readonly (readonly [string, string])[] = [
  ["a session", sessionOf(H, P, O, GLU, CRE, L)],
  ["two sessions, EOT and ENQ together", sessionOf(H, GLU, L) + sessionOf(H, CRE, L)],
  ["two messages in one session", sessionOf(H, GLU, L, H, CRE, L)],
  ["keep-alive", "<ENQ><EOT><ENQ><EOT>"],
  ["noise everywhere", `zz<ENQ>~<LF>${frame(1, `${H}<CR>`)}<CR>~${frame(2, `${L}<CR>`)}!<EOT>??`],
  [
    "bad checksum, repeated frame, wrong number",
    `<ENQ>${frame(1, `${H}<CR>`, "ETX", "00")}${frame(1, `${H}<CR>`).repeat(2)}${frame(7, "C|1<CR>")}${frame(2, `${L}<CR>`)}<EOT>`,
  ],
  [
    "records split over ETB frames, L without CR",
    `<ENQ>${frame(1, `${H}<CR>R|1|^`, "ETB")}${frame(2, "^^GLU|9", "ETB")}${frame(3, `5<CR>${L}`)}<EOT>`,
  ],
  ["no CR LF", sessionOf(H, GLU, L).replaceAll("<CR><LF>", "")],
  ["no LF", sessionOf(H, GLU, L).replaceAll("<LF>", "")],
  ["CR LF in text", `<ENQ>${frame(1, `${H}<CR><LF>${GLU}<CR><LF>${L}<CR><LF>`)}<EOT>`],
  ["a frame cut by EOT ENQ", `<ENQ>${frame(1, `${H}<CR>`)}<STX>2R|1<EOT>${sessionOf(H, L)}`],
  ["cut before L", `<ENQ>${frame(1, `${H}<CR>`)}<EOT>`],
  ["H before L", sessionOf(H, GLU, H, L)],
  ["a damaged byte that looks like ETX", `<ENQ><STX>1H|\\<ETX>^&<CR><ETX>E5<CR><LF>${frame(1, `${H}<CR>${L}<CR>`)}`],
  ["NUL in text and controls in text", `<ENQ><STX>1H|<NUL><STX><ACK><ENQ><ETX>00<CR><LF>${frame(1, `${L}<CR>`)}<EOT>`],
];

describe.each(STREAMS)("segmentation: %s", (_, text) => {
  const stream = bytes(text);
  const whole = receiver();
  whole.receiveBytes(stream);

  test("byte by byte gives the same as one chunk", () => {
    const single = receiver();
    for (const byte of stream) single.receiveBytes(Uint8Array.of(byte));
    expect(single.actions).toEqual(whole.actions);
    expect(single.timer()).toEqual(whole.timer());
  });

  test("random cuts give the same as one chunk", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length), { maxLength: 12 }), (cuts) => {
        const pieces = receiver();
        let from = 0;
        for (const cut of [...cuts.toSorted((a, b) => a - b), stream.length]) {
          pieces.receiveBytes(stream.subarray(from, cut));
          from = cut;
        }
        expect(pieces.actions).toEqual(whole.actions);
        expect(pieces.timer()).toEqual(whole.timer());
      }),
    );
  });
});

test("a chunk is not kept, so the caller may reuse its buffer", () => {
  const device = receiver();
  for (const byte of bytes(sessionOf(H, GLU, L))) {
    const chunk = Uint8Array.of(byte);
    device.receiveBytes(chunk);
    chunk[0] = 0x58;
  }
  expect(device.deliveries).toEqual([complete(H, GLU, L)]);
});

test("a delivered message does not change with later bytes", () => {
  const link = new AstmLink();
  const [delivery] = link
    .receive(bytes(sessionOf(H, GLU, L)))
    .flatMap((action) => (action.do === "deliver" ? [action.message] : []));
  link.receive(bytes(sessionOf("H|\\^&|||XXXXXXXXXXXX", "R|1|XXXXXXXXXXXXX", L)));
  expect(show(delivery ?? new Uint8Array())).toBe(complete(H, GLU, L).message);
});

// Optional: the captures are not in this repository.
const CAPTURES = "/work/shared/captures/astm";

describe.skipIf(!existsSync(CAPTURES))("field captures", () => {
  test.each([
    ["abaxis-vetscan-vs2__dog-demo-and-qc.raw", 1],
    ["abaxis-vetscan-vs2__sign-on.raw", 1],
    ["vitros-3600__results.raw", 1],
    ["vitros-3600__host-query.raw", 1],
  ])("%s is accepted frame by frame", (name, messages) => {
    const capture = readFileSync(`${CAPTURES}/${name}`);
    const device = receiver();
    device.receiveBytes(capture);
    const frames = capture.filter((byte) => byte === 0x02).length;
    expect(device.replies()).toBe("<ACK>".repeat(frames + 1));
    expect(device.said().warnings).toEqual([]);
    expect(device.deliveries.map(({ incomplete }) => incomplete)).toEqual(Array(messages).fill(null));
  });

  test.each(["sysmex-xp100__one-frame.raw", "cobas-c311__one-frame.raw"])(
    "%s, a message in one frame without its ENQ, is accepted",
    (name) => {
      const device = receiver();
      device.receive("<ENQ>");
      device.receiveBytes(readFileSync(`${CAPTURES}/${name}`));
      device.wait(FRAME_END_TIMEOUT_MS);
      expect(device.said()).toMatchObject({ replies: "<ACK><ACK>", warnings: [] });
      expect(device.deliveries.map(({ incomplete }) => incomplete)).toEqual([null]);
    },
  );
});
