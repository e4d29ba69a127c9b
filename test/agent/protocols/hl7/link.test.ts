import * as fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { BARE_END_TIMEOUT_MS, FRAME_END_TIMEOUT_MS, FRAME_TIMEOUT_MS } from "../../../../agent/protocols/hl7/link.ts";
import { MESSAGE_BYTES_MAX } from "../../../../agent/protocols/hl7/message/message.ts";
import type { LinkAction } from "../../../../agent/protocols/link.ts";
import { NOISE_BYTES_MAX, NOISE_TIMEOUT_MS } from "../../../../agent/protocols/noise.ts";
import { play, segmentationCounterexample } from "../astm/observed-actions.ts";
import { bytes, show } from "../astm/wire.ts";
import { frame, header, newLink, result, saidOf, textOf } from "./wire.ts";

const GOOD = frame(result());
const CUT = "a new frame began before its end";

describe("frames and the bytes between them", () => {
  test("a framed message is delivered and acknowledged, then the link is at rest", () => {
    const link = newLink();
    const actions = link.receive(bytes(GOOD));
    expect(actions.map((action) => action.do)).toEqual(["deliver", "reply", "timer"]);
    expect(play(newLink(), GOOD)).toEqual({
      replies: frame(
        textOf(
          "MSH|^~\\&|LIS|Clinic|BC-5300|Mindray|20261121173059+0300||ACK^R01|V-1|P|2.3.1",
          "MSA|AA|4711|Message accepted|||0",
        ),
      ),
      deliveries: [{ message: result(), incomplete: null }],
      warnings: [],
      timer: null,
    });
    expect(link.isIdle).toBe(true);
  });

  test("heartbeats, NUL and line ends between frames are ignored silently", () => {
    const link = newLink();
    expect(saidOf(link.receive(bytes("<STX><NUL><CR><LF><STX>")))).toEqual(saidOf([]));
    expect(link.isIdle).toBe(true);
    expect(saidOf(link.receive(bytes(`<STX>${GOOD}<CR><LF><STX>${GOOD}`))).answers).toEqual(["AA 4711", "AA 4711"]);
  });

  test("other bytes are reported once per run, at the next frame or after 1 s of silence", () => {
    expect(play(newLink(), "noise", "<ENQ>more", GOOD)).toMatchObject({
      warnings: ["10 bytes outside frames: ignored"],
    });
    const link = newLink();
    expect(play(link, "noise")).toMatchObject({ warnings: [], timer: NOISE_TIMEOUT_MS });
    expect(link.isIdle).toBe(false);
    expect(play(link, "timeout()")).toMatchObject({ warnings: ["5 bytes outside frames: ignored"], timer: null });
    expect(link.isIdle).toBe(true);
    expect(play(newLink(), "x".repeat(NOISE_BYTES_MAX + 1), "close()").warnings).toEqual([
      `${NOISE_BYTES_MAX} bytes outside frames: ignored`,
      "1 byte outside frames: ignored",
    ]);
  });

  test("an empty frame is neither delivered nor acknowledged", () => {
    expect(play(newLink(), "<VT><FS><CR>")).toMatchObject({ replies: "", deliveries: [] });
  });
});

describe("end of a frame", () => {
  const open = `<VT>${result()}<FS>`;

  test("FS ends a frame with CR, with VT, or with 200 ms of silence", () => {
    expect(saidOf(newLink().receive(bytes(`${open}<CR>`))).answers).toEqual(["AA 4711"]);
    expect(saidOf(newLink().receive(bytes(`${open}${GOOD}`))).answers).toEqual(["AA 4711", "AA 4711"]);
    const link = newLink();
    expect(play(link, open)).toMatchObject({ deliveries: [], timer: FRAME_END_TIMEOUT_MS });
    expect(FRAME_END_TIMEOUT_MS).toBe(200);
    expect(saidOf(link.timeout()).answers).toEqual(["AA 4711"]);
    expect(play(link, "<CR>", GOOD)).toMatchObject({ warnings: [], deliveries: [{ message: result() }] });
  });

  test("FS with any other byte ends a frame", () => {
    const wire = `<VT>${header()}<CR>OBX|1|ED|a<FS>b<CR><FS><CR>`;
    expect(play(newLink(), wire, "close()")).toMatchObject({
      deliveries: [{ message: `${header()}<CR>OBX|1|ED|a`, incomplete: null }],
      warnings: ["2 bytes outside frames: ignored"],
    });
  });
});

describe("a message without a frame", () => {
  const bare = result();

  test("is delivered after a silence, and acknowledged without a frame", () => {
    const link = newLink();
    expect(play(link, bare)).toMatchObject({ deliveries: [], replies: "", timer: BARE_END_TIMEOUT_MS });
    expect([link.isIdle, link.between]).toEqual([false, null]);
    const { deliveries, replies, timer } = play(link, "timeout()");
    expect([deliveries, timer, link.isIdle]).toEqual([[{ message: bare, incomplete: null }], null, true]);
    expect(replies).toMatch(/^MSH.*MSA\|AA\|4711/);
  });

  test("may end with ETX, as a text after STX, or with the end of the connection", () => {
    for (const wire of [[`<STX>${bare}<ETX><CR>`], [`<STX>${bare}<ETX>`, "timeout()"], [bare, "close()"]]) {
      expect(play(newLink(), ...wire)).toMatchObject({
        deliveries: [{ message: bare, incomplete: null }],
        warnings: [],
      });
    }
  });

  test("that ends within a segment is incomplete, and gets no reply", () => {
    const cut = bare.slice(0, -6);
    expect(play(newLink(), cut, "timeout()")).toMatchObject({
      replies: "",
      deliveries: [
        { message: cut, incomplete: `the device fell silent for ${BARE_END_TIMEOUT_MS / 1000} s within a segment` },
      ],
    });
  });

  test("after a pause within it: the first part is a message, and the rest is incomplete and gets no reply", () => {
    const rest = "OBX|9|NM|PLT||300<CR>NTE|1||late<CR>";
    const incomplete = "segments without their header: the device may have paused within a message";
    const link = newLink();
    play(link, bare, "timeout()");
    expect(play(link, rest, "timeout()")).toMatchObject({
      replies: "",
      deliveries: [{ message: rest, incomplete }],
      warnings: [incomplete],
      timer: null,
    });
    const { deliveries, replies } = play(link, "OBX|9|N", "M|PLT||300<CR>", bare, "timeout()");
    expect(deliveries).toEqual([
      { message: "OBX|9|NM|PLT||300<CR>", incomplete },
      { message: bare, incomplete: null },
    ]);
    expect(replies).toMatch(/^MSH.*MSA\|AA\|4711/);
    expect(replies.match(/MSA/g)).toHaveLength(1);
    expect(play(link, "OBXYZ<CR>", "timeout()")).toMatchObject({ deliveries: [], replies: "" });
    const repeated = play(link, ...Array.from({ length: 5 }, () => "OBX|9<CR><ETX><CR>"), "timeout()");
    expect(repeated.deliveries).toHaveLength(1);
  });

  test("begins at the start of a line alone, and letters that begin no header are noise", () => {
    expect(play(newLink(), "xMSH|", "timeout()").warnings).toEqual(["5 bytes outside frames: ignored"]);
    expect(play(newLink(), "MS", "HX", GOOD)).toMatchObject({
      warnings: ["4 bytes outside frames: ignored"],
      deliveries: [{ message: result() }],
    });
    expect(play(newLink(), "MS", "timeout()").warnings).toEqual(["2 bytes outside frames: ignored"]);
  });

  test("whose bytes were not stored is not acknowledged", () => {
    const link = newLink();
    const { replies, deliveries } = play(link, bare, { refused: "OBX|9<CR>" }, "timeout()");
    expect(replies).not.toMatch(/MSA\|AA/);
    expect(deliveries.every(({ incomplete }) => incomplete !== null)).toBe(true);
  });
});

describe("VT within a frame", () => {
  test("VT drops the frame without a reply and starts the next one", () => {
    expect(play(newLink(), `<VT>MSH|^~\\&|BC<CR>PID|${GOOD}`)).toMatchObject({
      deliveries: [
        { message: "MSH|^~\\&|BC<CR>PID|", incomplete: CUT },
        { message: result(), incomplete: null },
      ],
      warnings: [CUT],
    });
    expect(saidOf(newLink().receive(bytes(`<VT>MSH|${GOOD}`))).answers).toEqual(["AA 4711"]);
  });
});

describe("frames that end before their end", () => {
  const more = (count: number) => `${count} more incomplete frames in a row: only the first is kept as a message`;

  test("many in a row are one message, its warning and one warning with their number", () => {
    expect(play(newLink(), "<VT>a".repeat(100_000), GOOD)).toMatchObject({
      deliveries: [
        { message: "a", incomplete: CUT },
        { message: result(), incomplete: null },
      ],
      warnings: [CUT, more(99_999)],
    });
    expect(play(newLink(), "<VT>".repeat(100_000), "a<VT>b<VT>c", "close()")).toMatchObject({
      deliveries: [{ message: "a", incomplete: CUT }],
      warnings: [CUT, more(100_001)],
    });
  });

  test("a message, silence or a refusal ends the row, and an empty frame does not", () => {
    const twice = (between: string) => play(newLink(), "<VT>a<VT>", between, "<VT>b<VT>", "close()");
    const kept = (between: string) => twice(between).deliveries.filter(({ incomplete }) => incomplete !== null);
    expect(kept(GOOD).map(({ message }) => message)).toEqual(["a", "b"]);
    expect(kept("timeout()").map(({ message }) => message)).toEqual(["a", "b"]);
    expect(kept("<FS><CR>").map(({ message }) => message)).toEqual(["a"]);
    const refused = play(newLink(), "<VT>a<VT>b", { refused: "c" }, "<FS><CR><VT>d<VT>", "close()");
    expect(refused.deliveries.map(({ message }) => message)).toEqual(["a", "d"]);
  });

  test("an empty frame after one leaves the link busy until the row is reported", () => {
    const link = newLink();
    expect(play(link, "<VT>a<VT>b<VT><FS><CR>")).toMatchObject({ timer: NOISE_TIMEOUT_MS });
    expect(link.isIdle).toBe(false);
    expect(play(link, "timeout()")).toMatchObject({ warnings: [more(1)], timer: null });
    expect(link.isIdle).toBe(true);
  });
});

describe("segmentation", () => {
  const pieces = [
    GOOD,
    frame(result("2")),
    frame(textOf(header({ 15: "AL", 16: "AL" }))),
    frame("noise"),
    frame(result() + result()),
    "<VT>",
    "<FS>",
    "<CR>",
    "<LF>",
    "<STX>",
    "noise",
    "<VT>MSH|^~\\&|K\xc3\xb6pek|",
    `<VT>${result()}<FS>`,
  ];

  test("any segmentation of the stream gives the same actions", () => {
    expect(segmentationCounterexample(() => newLink(), pieces)).toBe(null);
  });

  test("a replay delivers the same messages as the refused bytes, incomplete ones included", () => {
    // The spool numbers the messages of a session, from one rest of the link to the next.
    const deliveries = (actions: readonly LinkAction[]) =>
      actions.flatMap((action) =>
        action.do === "deliver" ? [`${show(action.message)} ${action.incomplete === null}`] : [],
      );
    const chunks = fc.array(fc.tuple(fc.constantFrom(...pieces), fc.boolean()), { minLength: 1, maxLength: 12 });
    const property = fc.property(chunks, (events) => {
      const live = newLink();
      let replayed = newLink();
      const [said, again]: [LinkAction[], LinkAction[]] = [[], []];
      let gap = false;
      for (const [text, refused] of events) {
        if (refused) {
          said.push(...live.refuse(bytes(text)));
          gap = true;
        } else {
          if (gap) again.push(...replayed.gap());
          gap = false;
          said.push(...live.receive(bytes(text)));
          again.push(...replayed.receive(bytes(text)));
        }
        if (!live.isIdle) continue;
        again.push(...replayed.close());
        replayed = newLink();
        gap = false;
      }
      said.push(...live.close());
      again.push(...replayed.close());
      return isDeepStrictEqual(deliveries(again), deliveries(said));
    });
    expect(fc.check(property, { numRuns: 1_000 }).counterexample).toBe(null);
  });

  test("a frame without its CR is accepted, even if the CR is lost", () => {
    const link = newLink();
    link.receive(bytes(`<VT>${result()}<FS>`));
    expect(saidOf(link.refuse(bytes("<CR>")))).toMatchObject({
      answers: ["AA 4711"],
      messages: ["4711"],
      warnings: [],
    });
  });

  test("only bytes that may end a frame have to be stored before a reply", () => {
    const link = newLink();
    expect(link.mayAccept(bytes("<VT>MSH"))).toBe(false);
    link.receive(bytes(`<VT>${result()}`));
    expect([link.mayAccept(bytes("PID|1")), link.mayAccept(bytes("x<FS>"))]).toEqual([false, true]);
    link.receive(bytes("<FS>"));
    expect(link.mayAccept(bytes("<CR>"))).toBe(true);
    const outside = ["MSH", "x<CR><LF>MS", "xMSH", "noise<VT>MSH"].map((text) => newLink().mayAccept(bytes(text)));
    expect(outside).toEqual([true, true, false, false]);
  });
});

describe("max message length", () => {
  const filler = new Uint8Array(1024 * 1024).fill(0x78);

  test("a longer message is accepted at its end with its id, and the part that fits is delivered", () => {
    const link = newLink();
    const actions = [...link.receive(bytes(`<VT>${result()}`))];
    for (let sent = 0; sent <= MESSAGE_BYTES_MAX; sent += filler.length) actions.push(...link.receive(filler));
    expect(saidOf(actions)).toEqual({
      ...saidOf([]),
      messages: ["4711"],
      warnings: [`a message of more than ${MESSAGE_BYTES_MAX} bytes: its first part is kept`],
    });
    expect(actions.flatMap((action) => (action.do === "deliver" ? action.message.length : []))).toEqual([
      MESSAGE_BYTES_MAX,
    ]);
    expect(saidOf(link.receive(bytes("<FS><CR>")))).toMatchObject({
      answers: ["AA 4711"],
      messages: [],
      warnings: [],
    });
    expect(saidOf(link.receive(bytes(GOOD))).answers).toEqual(["AA 4711"]);
  });

  test("in enhanced mode a longer message is accepted as one of the max length is", () => {
    const first = textOf(header({ 15: "AL", 16: "NE" }));
    const link = newLink();
    const answersTo = (length: number) => {
      const rest = new Uint8Array(length - bytes(first).length).fill(0x78);
      return saidOf([bytes(`<VT>${first}`), rest, bytes("<FS><CR>")].flatMap((part) => link.receive(part))).answers;
    };
    expect(answersTo(MESSAGE_BYTES_MAX)).toEqual(["CA 4711"]);
    expect(answersTo(MESSAGE_BYTES_MAX + 1)).toEqual(["CA 4711"]);
  });
});

describe("silence", () => {
  test("no timer runs between frames; 30 s of silence drop a frame", () => {
    const link = newLink();
    expect(play(link, GOOD).timer).toBe(null);
    expect(play(link, `<VT>${result()}`).timer).toBe(FRAME_TIMEOUT_MS);
    expect(FRAME_TIMEOUT_MS).toBe(30_000);
    expect(play(link, "timeout()")).toEqual({
      replies: "",
      deliveries: [{ message: result(), incomplete: "the device fell silent for 30 s within a frame" }],
      warnings: ["the device fell silent for 30 s within a frame"],
      timer: null,
    });
    expect(saidOf(link.receive(bytes(GOOD))).answers).toEqual(["AA 4711"]);
  });

  test("a closed connection makes the frame incomplete, unless only its CR is missing", () => {
    expect(saidOf([...newLink().receive(bytes("<VT>MSH|")), ...newLink().close()]).incomplete).toEqual([]);
    const link = newLink();
    link.receive(bytes("<VT>MSH|"));
    expect(saidOf(link.close()).incomplete).toEqual(["the connection closed within a frame"]);
    link.receive(bytes(`<VT>${result()}<FS>`));
    expect(saidOf(link.close()).messages).toEqual(["4711"]);
    expect(link.isIdle).toBe(true);
  });
});

describe("bytes that could not be stored", () => {
  test("their message gets AE with its id, or CR on request, and is never accepted", () => {
    expect(saidOf(newLink().refuse(bytes(GOOD)))).toEqual({
      ...saidOf([]),
      answers: ["AE 4711"],
      warnings: ["cannot store: message refused"],
    });
    expect(saidOf(newLink().refuse(bytes(frame(textOf(header({ 15: "AL" })))))).answers).toEqual(["CR 4711"]);
    const link = newLink();
    for (const [stored, text] of [
      [true, `<VT>${header()}`],
      [false, "<CR>PID|1<CR>"],
      [true, "<FS>"],
    ] as const) {
      const actions = stored ? link.receive(bytes(text)) : link.refuse(bytes(text));
      expect(saidOf(actions).messages).toEqual([]);
    }
    expect(saidOf(link.receive(bytes("<CR>"))).answers).toEqual(["AE 4711"]);
    expect(saidOf(link.receive(bytes(GOOD))).answers).toEqual(["AA 4711"]);
  });

  test("the message before the refused bytes is acknowledged", () => {
    const link = newLink();
    link.receive(bytes(GOOD));
    expect(saidOf(link.refuse(bytes(`<VT>${result("2")}`)))).toEqual(saidOf([]));
    expect(saidOf(link.receive(bytes(`<FS><CR>${frame(result("3"))}`)))).toMatchObject({
      answers: ["AE 2", "AA 3"],
      messages: ["3"],
    });
  });
});

test("a frame that started before a gap is not joined with the bytes after it", () => {
  const link = newLink();
  link.receive(bytes(`<VT>${result("1")}`));
  link.gap();
  expect(saidOf(link.receive(bytes(`text<VT>${result("2")}<FS><CR>`))).messages).toEqual(["2"]);
});

test("a frame without a message gets AR and is delivered as it is", () => {
  expect(play(newLink(), frame("noise"))).toMatchObject({
    deliveries: [{ message: "noise", incomplete: null }],
    warnings: ['the first segment is "noise", expected MSH'],
  });
});

test("each message of a frame is delivered and acknowledged separately", () => {
  const actions = newLink().receive(bytes(frame(result("1") + result("2") + textOf(header({ 10: "" })))));
  expect(saidOf(actions)).toMatchObject({ answers: ["AA 1", "AA 2", "AA"], messages: ["1", "2", ""] });
  expect(actions.flatMap((action) => (action.do === "deliver" ? show(action.message) : []))[1]).toBe(result("2"));
});
