import { expect, test } from "vitest";
import { ETB } from "../../../../agent/protocols/bytes.ts";
import { replay } from "../../../../agent/tools/offline/replay.ts";
import { frames, vetScanRecords } from "../../../support/protocols/astm.ts";
import { dog } from "../../../support/runner/fixtures.ts";
import { receiver } from "./wire.ts";
import { astmDevice } from "../../../support/clinic/profiles.ts";

const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");

// Damages every byte of a session in turn: each bit, and each control character. `npm test` tries every value of a frame's bytes.

const RECORDS = vetScanRecords({ patient: "4711", species: "Dog", collected: "20261121093000", alt: 31 });
const FRAMES = frames(RECORDS);
const QUICK = process.env["SLOW"] === "0";
const BITS = [1, 2, 4, 8, 16, 32, 64, 128];
const CONTROLS = [0x00, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0a, 0x0d, 0x15, 0x17];
const VALUES = Array.from({ length: 256 }, (_, value) => value);
/** Below the device's 15 s, above the link's wait for the end of a frame. */
const REPLY_MS = 14_999;

function damaged(bytes: Uint8Array, place: number, value: number): Uint8Array {
  return bytes.map((byte, index) => (index === place ? value : byte));
}

function valuesFor(byte: number): number[] {
  const values = QUICK ? [...BITS.map((bit) => byte ^ bit), ...CONTROLS] : VALUES;
  return values.filter((value) => value !== byte);
}

test("a frame with one changed byte and another checksum gets NAK, and never ACK", () => {
  const wrong: unknown[] = [];
  for (const [number, wire] of FRAMES.entries()) {
    const etxAt = wire.length - 5;
    for (let place = 0; place < wire.length - 2; place++) {
      for (const value of valuesFor(wire[place]!)) {
        const isSameDigit = place > etxAt && String.fromCharCode(value).toUpperCase().charCodeAt(0) === wire[place];
        if (isSameDigit) continue; // the checksum in lower case
        const device = receiver();
        device.receive("<ENQ>");
        for (const before of FRAMES.slice(0, number)) device.receiveBytes(before);
        const acknowledged = device.replies().length;
        device.receiveBytes(damaged(wire, place, value));
        device.wait(REPLY_MS);
        const said = device.replies().slice(acknowledged);
        // Without STX or ETX there is no frame, and no reply.
        const isFrame = place > 0 && (place !== etxAt || value === ETB);
        const isWhole = device.deliveries.some(({ incomplete }) => incomplete === null);
        if (said !== (isFrame ? "<NAK>" : "") || isWhole) wrong.push({ frame: number + 1, place, value, said });
      }
    }
  }
  expect(wrong).toEqual([]);
});

test("no single changed byte changes a value of a study", () => {
  const context = { device: "chem-1", timeZone: "UTC", receivedAt: Date.UTC(2026, 10, 21, 9, 31) };
  const studiesOf = (stream: Uint8Array) =>
    replay([stream], abaxisVetscanVs2, context, dog).messages.flatMap(({ studies }) => studies);
  // The device sends without reading replies: a frame with NAK is lost, a frame with ACK counts.
  const stream = Buffer.concat([Uint8Array.of(0x05), ...FRAMES, Uint8Array.of(0x04)]);
  const [original, ...more] = studiesOf(stream);
  expect(original?.results.map(({ analyte, value }) => [analyte, value])).toEqual([
    ["ALT", 31],
    ["GLU", 95],
  ]);
  expect(more).toEqual([]);
  const wrong: unknown[] = [];
  for (let place = 0; place < stream.length; place++) {
    for (const bit of QUICK ? [BITS[place % 8]!] : BITS) {
      const studies = studiesOf(damaged(stream, place, stream[place]! ^ bit));
      const isSame = studies.length === 0 || JSON.stringify(studies) === JSON.stringify([original]);
      if (!isSame) wrong.push({ place, bit, studies });
    }
  }
  expect(wrong).toEqual([]);
});
