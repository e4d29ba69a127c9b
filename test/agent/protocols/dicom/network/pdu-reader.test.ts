import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  encodeAbort,
  encodeAssociateAccept,
  encodeAssociateReject,
  encodeAssociateRequest,
  encodeData,
  encodeReleaseRequest,
  encodeReleaseResponse,
} from "../../../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { PduReader } from "../../../../../agent/protocols/dicom/network/pdu-reader.ts";
import {
  type AssociateAccept,
  type AssociateRequest,
  DATA_PDU_BYTES_MAX,
  type PduEvent,
} from "../../../../../agent/protocols/dicom/network/pdu.ts";
import { APPLICATION_CONTEXT } from "../../../../../agent/protocols/dicom/uids.ts";

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.replace(/\s/g, ""), "hex"));
const read = (...chunks: readonly Uint8Array[]) => {
  const reader = new PduReader();
  return chunks.flatMap((chunk) => reader.receive(chunk));
};

const request: AssociateRequest = {
  protocolVersion: 1,
  calledAe: "VETWIRE",
  callingAe: "DX1",
  applicationContext: APPLICATION_CONTEXT,
  contexts: [
    { id: 1, abstractSyntax: "1.2.840.10008.1.1", transferSyntaxes: ["1.2.840.10008.1.2"] },
    { id: 255, abstractSyntax: "1.2.840.10008.5.1.4.1.1.1", transferSyntaxes: ["1.2.840.10008.1.2.4.50", "1.2.3"] },
  ],
  maxPduLength: 16_384,
  implementationClassUid: "1.2.3.4",
  implementationVersion: "TEST",
};
const accept: AssociateAccept = {
  calledAe: "VETWIRE",
  callingAe: "DX1",
  contexts: [
    { id: 1, result: "acceptance", transferSyntax: "1.2.840.10008.1.2" },
    { id: 255, result: "transfer-syntaxes", transferSyntax: "1.2.840.10008.1.2" },
  ],
  maxPduLength: 0,
  implementationClassUid: "1.2.3.4",
  implementationVersion: "TEST",
};

// Association request of DCMTK 3.6.7's echoscu, recorded on loopback.
const ECHO_REQUEST = bytes(`
  01 00 0000 00 cd 0001 0000 56455457495245202020202020202020 44583120202020202020202020202020
  ${"00".repeat(32)}
  10 00 0015 312e322e3834302e31303030382e332e312e312e31
  20 00 002e 01 00 ff 00 30 00 0011 312e322e3834302e31303030382e312e31 40 00 0011 312e322e3834302e31303030382e312e32
  50 00 003a 51 00 0004 00004000 52 00 001b 312e322e3237362e302e373233303031302e332e302e332e362e37
             55 00 000f 4f464649535f44434d544b5f333637`);

describe("associations", () => {
  test("DCMTK's request is read", () => {
    expect(read(ECHO_REQUEST)).toEqual([
      {
        is: "associate-request",
        request: {
          ...request,
          contexts: [request.contexts[0]],
          implementationClassUid: "1.2.276.0.7230010.3.0.3.6.7",
          implementationVersion: "OFFIS_DCMTK_367",
        },
      },
    ]);
  });

  test.each<[string, Uint8Array, PduEvent]>([
    ["a request", encodeAssociateRequest(request), { is: "associate-request", request }],
    [
      "an acceptance",
      encodeAssociateAccept(accept),
      { is: "associate-accept", accept: expect.objectContaining(accept) },
    ],
    [
      "a rejection",
      encodeAssociateReject({ result: 1, source: 2, reason: 2 }),
      { is: "associate-reject", reject: { result: 1, source: 2, reason: 2 } },
    ],
    ["a release request", encodeReleaseRequest(), { is: "release-request" }],
    ["a release response", encodeReleaseResponse(), { is: "release-response" }],
    ["an abort", encodeAbort(2, 6), { is: "abort", source: 2, reason: 6 }],
  ])("%s reads back unchanged, in one chunk and byte by byte", (_, encoded, expected) => {
    expect(read(encoded)).toEqual([expected]);
    expect(read(...Array.from(encoded, (byte) => Uint8Array.of(byte)))).toEqual([expected]);
  });

  test("UIDs and titles may be padded with blanks or NUL", () => {
    const padded = Buffer.from(
      encodeAssociateRequest({
        ...request,
        contexts: [{ ...request.contexts[0]!, abstractSyntax: "1.2.840.10008.1.1\0" }],
      }),
    );
    padded.fill(0, 10 + 7, 10 + 16);
    const [event] = read(padded);
    expect(event).toMatchObject({ request: { calledAe: "VETWIRE", contexts: [request.contexts[0]] } });
  });

  const patched = (at: number, ...values: readonly number[]) => {
    const copy = Uint8Array.from(ECHO_REQUEST);
    copy.set(values, at);
    return copy;
  };
  test.each<[string, Uint8Array, number, string]>([
    ["an unknown PDU type", bytes("08 00 00000004 00000000"), 1, "unknown PDU type 08"],
    ["HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n"), 1, "unknown PDU type 47"],
    ["a request of 4 GB", bytes("01 00 ffffffff"), 6, "a PDU of type 01 with 4294967295 bytes"],
    ["a request of nothing", bytes("01 00 00000000"), 6, "an association PDU of 0 bytes"],
    ["a release of another length", bytes("05 00 00000005 0000000000"), 6, "a PDU of type 05 with 5 bytes"],
    ["an item beyond its PDU", patched(76, 0xff), 6, "item 10 is 65168 bytes longer than its PDU"],
    ["a context with an even id", patched(103, 2), 6, "even or repeated context ids"],
    ["data of 1 GB", bytes("04 00 40000000"), 6, `a P-DATA-TF of 1073741824 bytes, at most ${DATA_PDU_BYTES_MAX}`],
    ["data without a value", bytes("04 00 00000004 00000000"), 6, "a P-DATA-TF of 4 bytes holds no data value"],
    [
      "a value beyond its PDU",
      bytes("04 00 00000008 00000005 0103 0000"),
      6,
      "a data value of 5 bytes, but its PDU has 4 left",
    ],
    [
      "a value shorter than its header",
      bytes("04 00 00000006 00000001 0103"),
      6,
      "a data value of 1 bytes, but its PDU has 2 left",
    ],
    [
      "bytes after the last value",
      bytes("04 00 00000008 00000002 0103 0000"),
      6,
      "2 bytes after the last data value of a PDU",
    ],
  ])("%s is invalid, and the rest of the stream is skipped", (_, sent, reason, problem) => {
    const events = read(sent, encodeReleaseRequest());
    expect(events.at(-1)).toEqual({ is: "invalid", reason, problem });
    expect(events.filter(({ is }) => is !== "data")).toHaveLength(1);
  });
});

describe("data", () => {
  const joined = (events: readonly PduEvent[]) =>
    Buffer.concat(events.map((event) => (event.is === "data" ? event.bytes : new Uint8Array(0))));

  test("a PDU with several values gives each, and only the final fragment is last", () => {
    const pdu = bytes("04 00 00000015 00000004 0301 0a0b 00000003 0300 0c 00000002 0302");
    expect(read(pdu)).toEqual([
      { is: "data", context: 3, part: "command", bytes: bytes("0a0b"), last: false },
      { is: "data", context: 3, part: "dataset", bytes: bytes("0c"), last: false },
      { is: "data", context: 3, part: "dataset", bytes: bytes(""), last: true },
    ]);
  });

  test("values of any length in any segmentation keep their bytes, and end once", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 8, max: 64 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
        (dataset, maxPduLength, cuts) => {
          const sent = encodeData({ context: 1, part: "dataset", bytes: dataset, last: true }, maxPduLength);
          const chunks: Uint8Array[] = [];
          for (let at = 0, turn = 0; at < sent.length; turn++) {
            const end = at + cuts[turn % cuts.length]!;
            chunks.push(sent.subarray(at, end));
            at = end;
          }
          const events = read(...chunks);
          expect(joined(events).equals(dataset)).toBe(true);
          expect(events.map((event) => event.is === "data" && event.last)).toEqual(
            events.map((_, index) => index === events.length - 1),
          );
        },
      ),
    );
  });
});

test("any bytes are read without an exception, within bounded memory", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }), (chunks) => {
      for (const event of read(...chunks)) expect(event.is).toBeTypeOf("string");
    }),
    { numRuns: 2_000 },
  );
  // A damaged association request.
  fc.assert(
    fc.property(fc.nat(ECHO_REQUEST.length - 1), fc.nat(255), (at, value) => {
      const damaged = Uint8Array.from(ECHO_REQUEST);
      damaged[at] = value;
      for (const event of read(damaged))
        expect(["associate-request", "invalid", "associate-accept", "data"]).toContain(event.is);
    }),
    { numRuns: 2_000 },
  );
});
