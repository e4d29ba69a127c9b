import { describe, expect, test } from "vitest";
import {
  ARTIM_MS,
  Association,
  type AssociationAction,
  IDLE_MS,
} from "../../../../../agent/protocols/dicom/network/association.ts";
import {
  encodeAbort,
  encodeAssociateAccept,
  encodeAssociateReject,
  encodeAssociateRequest,
  encodeData,
  encodeReleaseRequest,
  encodeReleaseResponse,
} from "../../../../../agent/protocols/dicom/network/pdu-encoder.ts";
import type { AssociateAccept } from "../../../../../agent/protocols/dicom/network/pdu.ts";
import { associateRequest, IMPLICIT, pdusIn, VERIFICATION } from "../../../../support/protocols/dicom.ts";

const request = associateRequest([[VERIFICATION, IMPLICIT]]);
const accept: AssociateAccept = {
  calledAe: "VETWIRE",
  callingAe: "DX1",
  contexts: [{ id: 1, result: "acceptance", transferSyntax: IMPLICIT }],
  maxPduLength: 16_384,
  implementationClassUid: "1.2.3.4",
  implementationVersion: "TEST",
};
const data = encodeData({ context: 1, part: "command", bytes: Uint8Array.of(7), last: true }, 0);

/** Returns one word per action: the PDU that the peer gets, or the notice to the local user. */
function words(actions: readonly AssociationAction[]): string[] {
  return actions.map((action) => {
    switch (action.do) {
      case "write": {
        const [pdu] = pdusIn([action.bytes]);
        return pdu?.is === "abort" ? `abort ${pdu.source}/${pdu.reason}` : (pdu?.is ?? "nothing");
      }
      case "timer":
        return `timer ${action.ms}`;
      case "over":
        return `over: ${action.reason}`;
      default:
        return action.do;
    }
  });
}

const acceptor = () => Association.acceptor(() => accept);
/** Associations in each state, without the actions that led to it. */
const states = {
  "awaiting request (Sta2)": () => {
    const association = acceptor();
    association.start();
    return association;
  },
  "open (Sta6)": () => {
    const association = acceptor();
    association.receive(encodeAssociateRequest(request));
    return association;
  },
  "awaiting close (Sta13)": () => {
    const association = acceptor();
    association.receive(encodeAssociateRequest(request));
    association.receive(encodeReleaseRequest());
    return association;
  },
  "awaiting response (Sta5)": () => {
    const association = Association.requestor(request);
    association.start();
    return association;
  },
  "awaiting release (Sta7)": () => {
    const association = Association.requestor(request);
    association.receive(encodeAssociateAccept(accept));
    association.release();
    return association;
  },
};

const received = {
  request: encodeAssociateRequest(request),
  accept: encodeAssociateAccept(accept),
  reject: encodeAssociateReject({ result: 1, source: 1, reason: 7 }),
  data,
  "release request": encodeReleaseRequest(),
  "release response": encodeReleaseResponse(),
  abort: encodeAbort(0, 0),
  garbage: Uint8Array.of(0x99, 0, 0, 0, 0, 0),
};

const ARTIM = `timer ${ARTIM_MS}`;
const unexpected = (pdu: string, source = 2) => [
  `abort ${source}/${source === 2 ? 2 : 0}`,
  `over: unexpected PDU ${pdu}`,
  ARTIM,
];
const garbage = (source: number) => [`abort ${source}/${source === 2 ? 1 : 0}`, "over: unknown PDU type 99", ARTIM];
const aborted = ["over: the peer aborted (source 0, reason 0)", "timer null", "close"];
const idle = `timer ${IDLE_MS}`;

// The state table (PS3.8 table 9-10) for the states that occur.
const table: Record<keyof typeof states, Record<keyof typeof received, string[]>> = {
  "awaiting request (Sta2)": {
    request: ["associate-accept", "open", idle],
    accept: unexpected("associate-accept", 0),
    reject: unexpected("associate-reject", 0),
    data: unexpected("data", 0),
    "release request": unexpected("release-request", 0),
    "release response": unexpected("release-response", 0),
    abort: aborted,
    garbage: garbage(0),
  },
  "open (Sta6)": {
    request: unexpected("associate-request"),
    accept: unexpected("associate-accept"),
    reject: unexpected("associate-reject"),
    data: ["data", idle],
    "release request": ["release-response", "over: null", ARTIM],
    "release response": unexpected("release-response"),
    abort: aborted,
    garbage: garbage(2),
  },
  "awaiting close (Sta13)": {
    request: [],
    accept: [],
    reject: [],
    data: [],
    "release request": [],
    "release response": [],
    abort: ["close"],
    garbage: [],
  },
  "awaiting response (Sta5)": {
    request: unexpected("associate-request"),
    accept: ["open", idle],
    reject: ["over: called AE title not recognized", "timer null", "close"],
    data: unexpected("data"),
    "release request": unexpected("release-request"),
    "release response": unexpected("release-response"),
    abort: aborted,
    garbage: garbage(2),
  },
  "awaiting release (Sta7)": {
    request: unexpected("associate-request"),
    accept: unexpected("associate-accept"),
    reject: unexpected("associate-reject"),
    data: [],
    "release request": ["release-response"],
    "release response": ["over: null", "timer null", "close"],
    abort: aborted,
    garbage: garbage(2),
  },
};

describe.each(Object.entries(table))("an association %s", (state, row) => {
  test.each(Object.entries(row))("responds to: %s", (pdu, expected) => {
    const association = states[state as keyof typeof states]();
    expect(words(association.receive(received[pdu as keyof typeof received]))).toEqual(expected);
  });

  test("a closed connection ends the association once", () => {
    const association = states[state as keyof typeof states]();
    const over = state.startsWith("awaiting close") ? [] : ["over: the connection closed without a release"];
    expect(words(association.closed())).toEqual(["timer null", ...over]);
  });
});

test.each<[keyof typeof states, string[]]>([
  ["awaiting request (Sta2)", ["over: no association request within 30 s", "timer null", "close"]],
  ["open (Sta6)", ["abort 2/0", "over: no PDU within 60 s", ARTIM]],
  ["awaiting close (Sta13)", ["close"]],
  ["awaiting response (Sta5)", ["abort 2/0", "over: no response within 30 s", ARTIM]],
  ["awaiting release (Sta7)", ["abort 2/0", "over: no response within 30 s", ARTIM]],
])("an association %s times out", (state, expected) => {
  expect(words(states[state]().timeout())).toEqual(expected);
});

test("only complete PDUs restart the timer", () => {
  const association = states["open (Sta6)"]();
  const [first, ...rest] = data;
  expect(association.receive(Uint8Array.of(first!))).toEqual([]);
  expect(words(association.receive(Uint8Array.from(rest)))).toEqual(["data", idle]);
});

test.each([
  ["protocol version not supported", { protocolVersion: 2 }],
  ["application context not supported", { applicationContext: "1.2.3" }],
])("a request is rejected: %s", (reason, others) => {
  const association = acceptor();
  const actions = association.receive(encodeAssociateRequest({ ...request, ...others }));
  expect(words(actions)).toEqual(["associate-reject", `over: DX1 was rejected: ${reason}`, ARTIM]);
});

test("both sides agree on the same contexts", () => {
  const requestor = Association.requestor(request);
  const acceptorSide = acceptor();
  const bytesOf = (actions: readonly AssociationAction[]) =>
    Buffer.concat(actions.map((action) => (action.do === "write" ? action.bytes : new Uint8Array(0))));
  const atAcceptor = acceptorSide.receive(bytesOf(requestor.start()));
  const atRequestor = requestor.receive(bytesOf(atAcceptor));
  const agreement = {
    do: "open",
    agreement: {
      callingAe: "DX1",
      contexts: new Map([[1, { abstractSyntax: VERIFICATION, transferSyntax: IMPLICIT }]]),
    },
  };
  expect(atAcceptor).toContainEqual(agreement);
  expect(atRequestor).toContainEqual(agreement);
  const released = acceptorSide.receive(bytesOf(requestor.release()));
  expect(words(requestor.receive(bytesOf(released)))).toEqual(["over: null", "timer null", "close"]);
});
