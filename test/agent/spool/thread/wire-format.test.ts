import * as fc from "fast-check";
import { expect, test } from "vitest";
import { EVENT_KINDS, type EventKind } from "../../../../agent/spool/queries/events/event-log.ts";
import { EventPacker, type PackedEvents, unpackEvents } from "../../../../agent/spool/thread/wire-format.ts";

type Event = readonly [session: number, kind: EventKind, at: number, bytes: Uint8Array | null];

const event: fc.Arbitrary<Event> = fc.tuple(
  fc.nat({ max: 2 ** 50 }),
  fc.constantFrom(...EVENT_KINDS),
  fc.nat({ max: 2 ** 45 }),
  fc.oneof(fc.constant(null), fc.uint8Array({ maxLength: 20 })),
);

function pack(firstEvent: number, events: readonly Event[]): PackedEvents {
  const packer = new EventPacker(firstEvent);
  for (const each of events) packer.add(...each);
  return packer.pack();
}

function unpack(packed: PackedEvents): unknown[] {
  const events: unknown[] = [];
  unpackEvents(packed, (...each) => events.push(each));
  return events;
}

test("packed events are unpacked unchanged, with ids that count up", () => {
  fc.assert(
    fc.property(fc.nat(), fc.array(event), (firstEvent, events) => {
      const expected = events.map((each, index) => [firstEvent + index, ...each]);
      expect(unpack(structuredClone(pack(firstEvent, events)))).toEqual(expected);
    }),
  );
});

test("an event with empty bytes differs from an event without bytes", () => {
  const events: Event[] = [
    [1, "chunk", 5, new Uint8Array(0)],
    [1, "timeout", 6, null],
    [1, "chunk", 7, Uint8Array.of(1)],
  ];
  expect(unpack(pack(1, events))).toEqual(events.map((each, index) => [1 + index, ...each]));
});

test("a packer releases its events when it packs them", () => {
  const packer = new EventPacker(7);
  packer.add(1, "chunk", 5, Uint8Array.of(1));
  packer.pack();
  expect(unpack(packer.pack())).toEqual([]);
});
