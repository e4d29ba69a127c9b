import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { AstmLinkOptions } from "../../../../agent/protocols/astm/link.ts";
import { FRAME_END_TIMEOUT_MS, RECEIVE_TIMEOUT_MS } from "../../../../agent/protocols/astm/receiver.ts";
import { checksumOf, complete, frame, sessionOf, station } from "./wire.ts";

// Declared departures from the standard, each compared with the behavior without the declaration.

const H = "H|\\^&|||Analyzer^1.0";
const R = "R|1|^^^GLU|95|mg/dL";
const L = "L|1|N";

function received(text: string, options: AstmLinkOptions = {}) {
  const device = station(options);
  device.receive(text);
  return device.said();
}

describe("checksums", () => {
  const wrong = `<ENQ>${frame(1, `${H}<CR>${L}<CR>`, "ETX", "00")}`;
  const computed = checksumOf(`1${H}<CR>${L}<CR><ETX>`);

  test("strict, the default: a wrong checksum gets NAK", () => {
    for (const options of [{}, { checksum: "strict" }] as const) {
      expect(received(wrong, options)).toEqual({
        replies: "<ACK><NAK>",
        deliveries: [],
        warnings: [`checksum 00, computed ${computed}`],
      });
    }
  });

  test("warn: a wrong checksum is accepted with a warning", () => {
    expect(received(wrong, { checksum: "warn" })).toEqual({
      replies: "<ACK><ACK>",
      deliveries: [complete(H, L)],
      warnings: [`checksum 00, computed ${computed}: accepted by the profile`],
    });
  });

  test("warn: an invalid checksum and a wrong frame number get NAK", () => {
    expect(received("<ENQ><STX>1L|1|N<CR><ETX>G0<CR><LF>", { checksum: "warn" }).replies).toBe("<ACK><NAK>");
    expect(received(`<ENQ>${frame(2, `${L}<CR>`)}`, { checksum: "warn" }).replies).toBe("<ACK><NAK>");
  });

  test.each(["", "00", computed, "anything"])("none: %j between ETX and LF is ignored", (instead) => {
    const session = sessionOf(H, R, L).replace(/(<ETX>)..(<CR><LF>)/g, `$1${instead}$2`);
    expect(received(session, { checksum: "none" })).toEqual({
      replies: "<ACK>".repeat(4),
      deliveries: [complete(H, R, L)],
      warnings: [],
    });
  });

  test("none: a frame that ends with ETX gets its reply after a short silence, or with the next STX", () => {
    const [first, second] = [`<STX>1${H}<CR><ETX>`, `<STX>2${L}<CR><ETX>`];
    const waiting = station({ checksum: "none" });
    waiting.receive(`<ENQ>${first}`);
    expect([waiting.replies(), waiting.timer()]).toEqual(["<ACK>", FRAME_END_TIMEOUT_MS]);
    waiting.wait(FRAME_END_TIMEOUT_MS);
    waiting.receive(`${second}<EOT>`);
    expect(waiting.said()).toEqual({ replies: "<ACK><ACK><ACK>", deliveries: [complete(H, L)], warnings: [] });
    expect(received(`<ENQ>${first}${second}<EOT>`, { checksum: "none" })).toEqual(waiting.said());
  });

  test("none: frame numbers are checked, and a repetition is counted once", () => {
    const bare = sessionOf(H, R, L).replace(/(<ETX>)..<CR>/g, "$1");
    const [twice, skipped] = [bare.replace(/<STX>2.*?<LF>/, "$&$&"), bare.replace(/<STX>2.*?<LF>/, "")];
    expect(received(twice, { checksum: "none" })).toEqual({
      replies: "<ACK>".repeat(5),
      deliveries: [complete(H, R, L)],
      warnings: ["frame 2 was repeated: acknowledged, not counted again"],
    });
    expect(received(skipped, { checksum: "none" }).replies).toBe("<ACK><ACK><NAK>");
  });
});

describe("frames without numbers", () => {
  const plain = (text: string, end = "ETX") => `<STX>${text}<${end}>${checksumOf(`${text}<${end}>`)}<CR><LF>`;
  const header = plain(`${H}<CR>`);
  const last = plain(`${L}<CR>`);

  test("they are read if the first one begins with a header", () => {
    const record = plain(`${R}<CR>`);
    const split = plain("R|2|^^^BUN|1", "ETB") + plain("5|mg/dL<CR>");
    expect(received(`<ENQ>${header}${record}${record}${split}${last}<EOT>`)).toEqual({
      replies: "<ACK>".repeat(7),
      deliveries: [complete(H, R, "R|2|^^^BUN|15|mg/dL", L)],
      warnings: ["frame 0 was repeated: acknowledged, not counted again"],
    });
    expect(received(`<ENQ>${header}${last}<EOT>${sessionOf(H, R, L)}`).deliveries).toEqual([
      complete(H, L),
      complete(H, R, L),
    ]);
  });

  test("another first record and a wrong checksum get NAK", () => {
    expect(received(`<ENQ>${plain(`${R}<CR>`)}`)).toMatchObject({ replies: "<ACK><NAK>", deliveries: [] });
    for (const checksum of ["strict", "warn"] as const) {
      const wrong = header.replace(/<ETX>../, "<ETX>00");
      expect(received(`<ENQ>${wrong}${last}`, { checksum })).toMatchObject({
        replies: "<ACK><NAK><NAK>",
        deliveries: [],
      });
    }
  });
});

describe("a digit before each record", () => {
  const wire = frame(1, `${H}<CR>2P|1<CR>3${R}<CR>4${L}<CR>`);

  test("a declared digit is removed from the record", () => {
    expect(received(`<ENQ>${wire}<EOT>`, { digitBeforeRecords: true })).toEqual({
      replies: "<ACK><ACK>",
      deliveries: [complete(H, "P|1", R, L)],
      warnings: [],
    });
  });

  test("a declared digit may be missing, or separated from its record by a frame end", () => {
    const session = `<ENQ>${frame(1, `${H}<CR>2`, "ETB")}${frame(2, `P|1<CR>${R}<CR>4`, "ETB")}${frame(3, `${L}<CR>`)}`;
    expect(received(session, { digitBeforeRecords: true }).deliveries).toEqual([complete(H, "P|1", R, L)]);
  });

  test("an undeclared digit leaves the message without an L record", () => {
    expect(received(`<ENQ>${wire}<EOT>`).deliveries).toEqual([
      {
        message: `${H}<CR>2P|1<CR>3${R}<CR>4${L}<CR>`,
        incomplete: "the session ended before the L record",
      },
    ]);
  });
});

/** Departures that need no declaration; see also link.test.ts. */
test.each([
  ["one record an ETB frame", (text: string) => text.replace(/<ETX>(?=.*<ETX>)/g, "<ETB>")],
  ["EOT right after ENQ", (text: string) => `<ENQ><EOT>${text}`],
])("%s needs no declaration", (_, change) => {
  const changed = change(sessionOf(H, R, L)).replace(
    /<STX>(.*?<ET[XB]>)../g,
    (_all, summed: string) => `<STX>${summed}${checksumOf(summed)}`,
  );
  expect(received(changed)).toMatchObject({ deliveries: [complete(H, R, L)], warnings: [] });
});

test("a session never changes how the next one is read", () => {
  const odd = [
    frame(1, `${L}<CR>`, "ETX", "00"),
    `<STX>1${L}<CR><ETX><CR><LF>`,
    `<STX>1${L}<CR><ETX>`,
    frame(1, `2P|1<CR>3${L}<CR>`),
  ];
  const sessions = fc.array(fc.constantFrom(...odd.map((wire) => `<ENQ>${wire}<EOT>`)), { minLength: 1 });
  const fresh = received(`<ENQ>${odd[0]}<EOT>`);
  fc.assert(
    fc.property(sessions, (before) => {
      const device = station();
      device.receive(before.join(""));
      device.wait(2 * RECEIVE_TIMEOUT_MS); // a frame without checksum includes its EOT
      const said = device.said();
      device.receive(`<ENQ>${odd[0]}<EOT>`);
      const after = device.said();
      expect({
        replies: after.replies.slice(said.replies.length),
        deliveries: after.deliveries,
        warnings: after.warnings.slice(-1),
      }).toEqual({ ...fresh, deliveries: said.deliveries });
    }),
  );
});
