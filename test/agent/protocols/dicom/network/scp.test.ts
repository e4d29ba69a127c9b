import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  COMMAND,
  type Command,
  encodeRequest,
  encodeResponse,
  readCommand,
  STATUS,
} from "../../../../../agent/protocols/dicom/dimse.ts";
import type { ScpOptions } from "../../../../../agent/protocols/dicom/network/negotiation.ts";
import {
  encodeAbort,
  encodeAssociateRequest,
  encodeData,
  encodeReleaseRequest,
} from "../../../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { Scp, type ScpAction } from "../../../../../agent/protocols/dicom/network/scp.ts";
import { MODALITY_WORKLIST } from "../../../../../agent/protocols/dicom/uids.ts";
import {
  associateRequest,
  CR_STORAGE,
  dataset,
  encodeCancelRequest,
  encodeEchoRequest,
  encodeStoreRequest,
  EXPLICIT,
  IMPLICIT,
  JPEG,
  pdusIn,
  VERIFICATION,
} from "../../../../support/protocols/dicom.ts";

const options: ScpOptions = { aeTitle: "VETWIRE", callingAeTitles: ["DX1"], admits: () => true };
const contexts = [
  [VERIFICATION, IMPLICIT],
  [CR_STORAGE, EXPLICIT, IMPLICIT],
  [CR_STORAGE, JPEG],
] as const;
const [ECHO, STORE] = [1, 3];

function connected(others: Partial<ScpOptions> = {}): Scp {
  const scp = new Scp({ ...options, ...others });
  scp.receive(encodeAssociateRequest(associateRequest(contexts)));
  return scp;
}

const command = (context: number, bytes: Uint8Array) =>
  encodeData({ context, part: "command", bytes, last: true }, 16_384);
const data = (context: number, bytes: Uint8Array, maxPduLength = 16_384) =>
  encodeData({ context, part: "dataset", bytes, last: true }, maxPduLength);
const stored = (uid = "1.2.3.1", bytes = dataset(uid), context = STORE) =>
  Buffer.concat([command(context, encodeStoreRequest(1, CR_STORAGE, uid)), data(context, bytes)]);

const storeCommand: Command = {
  field: 1,
  messageId: 1,
  messageIdRespondedTo: 0,
  affectedSopClass: CR_STORAGE,
  affectedSopInstance: "1.2.3.1",
  typeId: 0,
  hasDataset: false,
  status: 0,
  comment: "",
};

/** Returns the statuses of the responses, and the kinds of other PDUs. */
function responses(actions: readonly ScpAction[]): (number | string)[] {
  const written = actions.flatMap((action) => (action.do === "write" ? [action.bytes] : []));
  return pdusIn(written).map((pdu) => {
    if (pdu.is !== "data") return pdu.is;
    const read = readCommand(pdu.bytes);
    return typeof read === "string" ? read : read.status;
  });
}
const actionsOf = (actions: readonly ScpAction[]) =>
  actions.map((action) => action.do).filter((word) => word !== "timer");

describe("services", () => {
  test("C-ECHO gets a response", () => {
    expect(responses(connected().receive(command(ECHO, encodeEchoRequest(7))))).toEqual([STATUS.success]);
  });

  test("an instance is passed on in pieces and gets its response once it is stored, in any segmentation", () => {
    const bytes = dataset("1.2.3.1", [[0x7fe0_0010, "OW", new Uint8Array(3_000).fill(9)]]);
    const sent = Buffer.concat([command(STORE, encodeStoreRequest(5, CR_STORAGE, "1.2.3.1")), data(STORE, bytes, 64)]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1 }), (cuts) => {
        const scp = connected();
        const actions: ScpAction[] = [];
        for (let at = 0, turn = 0; at < sent.length; turn++) {
          const end = at + cuts[turn % cuts.length]!;
          actions.push(...scp.receive(sent.subarray(at, end)));
          at = end;
        }
        const kept = actions.flatMap((action) => (action.do === "bytes" ? [action.bytes] : []));
        expect(Buffer.concat(kept).equals(bytes)).toBe(true);
        expect(actions.filter(({ do: word }) => word === "begin" || word === "store" || word === "write")).toEqual([
          {
            do: "begin",
            instance: {
              messageId: 5,
              sopClass: CR_STORAGE,
              sopInstance: "1.2.3.1",
              transferSyntax: EXPLICIT,
              callingAe: "DX1",
            },
          },
          { do: "store", identity: { study: "1.2.3", headerBytes: bytes.length - 3_000 - 12 } },
        ]);
        expect(scp.pendingRequests).toBe(1);
        expect(responses(scp.respond(5, STATUS.success, null))).toEqual([STATUS.success]);
        expect(scp.pendingRequests).toBe(0);
      }),
      { numRuns: 50 },
    );
  });

  test("an instance is stored although its release, or an abort, comes in the same chunk", () => {
    for (const end of [encodeReleaseRequest(), encodeAbort(0, 0)]) {
      const actions = connected().receive(Buffer.concat([stored(), end]));
      expect(actionsOf(actions).filter((word) => word !== "write" && word !== "close")).toEqual([
        "begin",
        "bytes",
        "store",
        "over",
      ]);
    }
  });

  test("a fault discards the instance and what follows in the same chunk, another instance and the release too", () => {
    const begun = encodeData(
      { context: STORE, part: "dataset", bytes: dataset().subarray(0, 20), last: false },
      16_384,
    );
    const start = [command(STORE, encodeStoreRequest(1, CR_STORAGE, "1.2.3.1")), begun];
    const fault = command(ECHO, encodeEchoRequest(2));
    const actions = connected().receive(
      Buffer.concat([...start, fault, data(STORE, dataset()), stored(), encodeReleaseRequest()]),
    );
    expect(actionsOf(actions)).not.toContain("store");
    expect(actionsOf(actions)).toContain("discard");
  });

  test.each([
    ["more than 64 digits", `1.2.${"3".repeat(80)}`],
    ["letters", "1.2.840.US-1.A"],
    ["a blank and an underscore", "DX_1 20261121"],
    ["dots alone after a digit", "1...2"],
  ])("an instance is stored under a UID with %s, because the agent names files itself", (_, uid) => {
    const scp = connected();
    const actions = scp.receive(stored(uid));
    expect(actions.map((action) => action.do).filter((name) => name !== "timer")).toEqual(["begin", "bytes", "store"]);
    expect(actions[0]).toMatchObject({ instance: { sopInstance: uid } });
  });

  test.each<[string, Uint8Array, number, string[]]>([
    [
      "an instance that differs from the command's",
      stored("1.2.3.1", dataset("1.2.3.2")),
      STATUS.datasetMismatch,
      ["begin", "bytes", "discard", "write"],
    ],
    [
      "no Study Instance UID",
      stored("1.2.3.1", dataset("1.2.3.1").subarray(0, -16)),
      STATUS.cannotUnderstand,
      ["begin", "bytes", "discard", "write"],
    ],
    [
      "a dataset cut short",
      stored("1.2.3.1", dataset("1.2.3.1").subarray(0, -3)),
      STATUS.cannotUnderstand,
      ["begin", "bytes", "discard", "write"],
    ],
    ["a UID that is a path", stored("../../x"), STATUS.invalidInstance, ["write"]],
    ["a UID of 129 characters", stored("1".repeat(129)), STATUS.invalidInstance, ["write"]],
    [
      "a SOP class that is not its context's",
      stored("1.2.3.1", dataset(), ECHO),
      STATUS.sopClassNotSupported,
      ["write"],
    ],
    [
      "an unsupported operation",
      command(STORE, encodeResponse(storeCommand, 0, null)),
      STATUS.unrecognizedOperation,
      ["write"],
    ],
  ])("%s is refused, and the association continues", (_, sent, status, actions) => {
    const scp = connected();
    const done = scp.receive(sent);
    expect(actionsOf(done)).toEqual(actions);
    expect(responses(done)).toEqual([status]);
    expect(responses(scp.receive(command(ECHO, encodeEchoRequest(8))))).toEqual([STATUS.success]);
  });

  test.each<[string, Uint8Array, string]>([
    [
      "a command on a context that was not accepted",
      command(9, encodeEchoRequest(1)),
      "a command on the presentation context 9, which was not accepted",
    ],
    ["a dataset without a command", data(STORE, dataset()), "a dataset without its command"],
    ["an invalid command", command(ECHO, Uint8Array.of(1, 2, 3)), "3 bytes, too few for an element of a command"],
    [
      "a command without end",
      encodeData({ context: ECHO, part: "command", bytes: new Uint8Array(16_385), last: false }, 0),
      "a command of more than 16384 bytes",
    ],
    [
      "a command within a dataset",
      Buffer.concat([
        command(STORE, encodeStoreRequest(1, CR_STORAGE, "1.2.3.1")),
        command(ECHO, encodeEchoRequest(2)),
      ]),
      "a command came within a dataset",
    ],
  ])("%s ends the association", (_, sent, reason) => {
    const actions = connected().receive(sent);
    expect(responses(actions)).toEqual(["abort"]);
    expect(actions).toContainEqual({ do: "over", reason });
  });

  test.each<[string, Uint8Array | null]>([
    ["an abort", encodeAbort(0, 0)],
    ["a release", encodeReleaseRequest()],
    ["a cut", null],
  ])("%s within an instance discards it", (_, sent) => {
    const scp = connected();
    scp.receive(command(STORE, encodeStoreRequest(1, CR_STORAGE, "1.2.3.1")));
    scp.receive(encodeData({ context: STORE, part: "dataset", bytes: dataset().subarray(0, 20), last: false }, 0));
    expect(actionsOf(sent === null ? scp.closed() : scp.receive(sent))).toContain("discard");
  });

  test("a cancel reaches a pending request but no completed one", () => {
    const scp = new Scp(options);
    scp.receive(encodeAssociateRequest(associateRequest([[MODALITY_WORKLIST, EXPLICIT]])));
    const request = { field: COMMAND.cFindRequest, messageId: 1, sopClass: MODALITY_WORKLIST, sopInstance: "" };
    const find = Buffer.concat([
      command(1, encodeRequest({ ...request, hasDataset: true })),
      data(1, new Uint8Array(0)),
    ]);
    const cancel = command(1, encodeCancelRequest(1));
    expect(actionsOf(scp.receive(Buffer.concat([find, cancel])))).toEqual(["request", "cancel"]);
    scp.respond(1, STATUS.cancelled, null);
    expect(actionsOf(scp.receive(cancel))).toEqual([]);
    expect(actionsOf(scp.receive(find))).toEqual(["request"]);
  });

  test("a peer that waits for a response is not timed out", () => {
    const scp = connected();
    scp.receive(stored());
    expect(actionsOf(scp.timeout())).toEqual([]);
    scp.respond(1, STATUS.success, null);
    expect(responses(scp.timeout())).toEqual(["abort"]);
  });
});
