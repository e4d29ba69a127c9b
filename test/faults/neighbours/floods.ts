import type net from "node:net";
import { encodeData } from "../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { ENQ, NAK, STX } from "../../../agent/protocols/bytes.ts";
import { CR_STORAGE, encodeStoreRequest, hostileDataset, storeRequest } from "../../support/protocols/dicom.ts";
import { ASSOCIATION, astmResult, hl7Result, imageOf, type Protocol } from "./devices.ts";
import { dribble, HostileSockets, ignoreReplies, pump } from "./hostile-sockets.ts";

// Floods of a hostile client, each on the port of one device.

/** As many connections as a listener holds: 16 without a complete message, and 16 with one. */
const ALL = 32;
export const SOME = 4;

export interface Flood {
  readonly name: string;
  readonly protocol: Protocol;
  begin(sockets: HostileSockets): void;
  /** True for the floods of `npm test`; the others need ALL=1. */
  readonly always?: true;
}

type Attack = (socket: net.Socket) => void;

const attack = (count: number, onOpen: Attack) => (sockets: HostileSockets) =>
  sockets.hold(count, (socket) => {
    ignoreReplies(socket);
    onOpen(socket);
  });

/** Sends a start, then the same bytes without an end. */
const endless =
  (start: string | Uint8Array, rest: string): Attack =>
  (socket) => {
    socket.write(start);
    const bytes = Buffer.from(rest.repeat(Math.ceil(65_536 / rest.length)));
    pump(socket, () => bytes);
  };

/** Sends the same complete message over and over. */
const repeated =
  (bytes: Uint8Array): Attack =>
  (socket) =>
    pump(socket, () => bytes);

/** Sends results with rising numbers, and opens with `hello`. */
const results =
  (result: (number: number) => Uint8Array, hello: Uint8Array = Buffer.alloc(0)): Attack =>
  (socket) => {
    let number = 0;
    if (hello.length > 0) socket.write(hello);
    pump(socket, () => result((number += 1)));
  };

/** Reads no reply. */
const deaf =
  (onOpen: Attack): Attack =>
  (socket) => {
    socket.pause();
    onOpen(socket);
  };

const MSH = "\x0bMSH|^~\\&|X|Y|||20260101090000||ORU^R01|1|P|2.3.1\r";
const XML = '<?xml version="1.0"?>';
const HELLO = Buffer.from(
  `${XML}<HEL.R01><HDR><HDR.control_id V="1"/></HDR><DEV><DEV.vendor_id V="X"/><DEV.serial_id V="1"/></DEV></HEL.R01>`,
);
/** P-DATA-TF, or an A-ASSOCIATE-RQ, that announces 4 GB. */
const hugePdu = (type: number) => Uint8Array.of(type, 0, 0xff, 0xff, 0xff, 0xff);
const STARTS: Record<Protocol, string | Uint8Array> = {
  astm: Uint8Array.of(ENQ, STX, 0x31),
  hl7: MSH,
  poct1a: `${XML}<OBS.R01>`,
  dicom: ASSOCIATION.subarray(0, 60),
};

const eachProtocol = (of: (protocol: Protocol) => Flood): Flood[] =>
  (["astm", "hl7", "poct1a", "dicom"] as const).map(of);

const connections: Flood[] = eachProtocol((protocol) => ({
  name: `connections to the ${protocol} port, closed immediately`,
  protocol,
  begin: attack(64, (socket) => socket.destroy()),
}));

const halfOpen: Flood[] = eachProtocol((protocol) => ({
  name: `200 silent connections to the ${protocol} port`,
  protocol,
  begin: attack(200, () => undefined),
}));

const slow: Flood[] = eachProtocol((protocol) => ({
  name: `one byte a second to the ${protocol} port`,
  protocol,
  begin: attack(ALL, (socket) => {
    socket.write(STARTS[protocol]);
    dribble(socket);
  }),
}));

const astm = (name: string, count: number, onOpen: Attack, more: { always?: true } = {}): Flood => ({
  name,
  protocol: "astm",
  begin: attack(count, onOpen),
  ...more,
});
const hl7: typeof astm = (...args) => ({ ...astm(...args), protocol: "hl7" });
const poct1a: typeof astm = (...args) => ({ ...astm(...args), protocol: "poct1a" });
const dicom: typeof astm = (...args) => ({ ...astm(...args), protocol: "dicom" });

const startOfStore = (uid: string) =>
  encodeData({ context: 1, part: "command", bytes: encodeStoreRequest(1, CR_STORAGE, uid), last: true }, 16_384);
const moreOfImage = encodeData({ context: 1, part: "dataset", bytes: new Uint8Array(65_536), last: false }, 0);

export const FLOODS: readonly Flood[] = [
  ...connections,
  ...halfOpen,
  ...slow,
  astm("endless ENQ", SOME, repeated(Buffer.alloc(65_536, ENQ))),
  astm("an endless ASTM frame", ALL, endless(Uint8Array.of(ENQ, STX, 0x31), "H|\\^&|x")),
  astm("ENQ and NAK in turn", SOME, repeated(Buffer.alloc(65_536, Uint8Array.of(NAK, ENQ)))),
  astm("ASTM frames with wrong checksums", SOME, endless(Uint8Array.of(ENQ), "\x021R|1|x|1\r\x0300\r\n")),
  astm(
    "ASTM results as fast as the agent reads",
    SOME,
    results((number) => Buffer.concat(astmResult(number))),
    { always: true },
  ),
  hl7("an endless HL7 message", ALL, endless(MSH, `OBX|1|${"x".repeat(1_000)}\r`), { always: true }),
  hl7("an endless HL7 segment", ALL, endless(MSH, "x")),
  hl7("HL7 noise", ALL, endless("", "noise ")),
  hl7("HL7 messages that start over and over", SOME, endless("", MSH)),
  hl7("messages of a million segments", SOME, repeated(Buffer.from(`${MSH}${"OBX|1\r".repeat(1_000_000)}\x1c\r`))),
  hl7("messages of a million fields", SOME, repeated(Buffer.from(`${MSH}OBX|${"1|".repeat(1_000_000)}\r\x1c\r`))),
  hl7("HL7 results whose acknowledgements are not read", SOME, deaf(results(hl7Result))),
  hl7("HL7 results as fast as the agent reads", SOME, results(hl7Result)),
  poct1a("deep XML", ALL, endless(`${XML}<OBS.R01>`, "<a>"), { always: true }),
  poct1a("an endless POCT1-A element", ALL, endless(`${XML}<OBS.R01><SVC>`, "text ")),
  poct1a("an endless POCT1-A attribute", ALL, endless(`${XML}<OBS.R01><SVC.role_cd V="`, "value ")),
  poct1a("POCT1-A hellos over and over", SOME, repeated(HELLO)),
  poct1a("POCT1-A hellos whose replies are not read", SOME, deaf(repeated(HELLO))),
  dicom("PDUs of 4 GB", ALL, endless(Buffer.concat([ASSOCIATION, hugePdu(4)]), "\0"), { always: true }),
  dicom("association requests of 4 GB", ALL, endless(hugePdu(1), "\0")),
  dicom("associations held open", 200, (socket) => socket.write(ASSOCIATION)),
  dicom("associations over and over", ALL, (socket) => {
    socket.once("data", () => socket.destroy());
    socket.write(ASSOCIATION);
  }),
  dicom(
    "sequences 3 000 levels deep",
    SOME,
    results((n) => storeRequest(1, `1.2.9.${n}`, hostileDataset()), ASSOCIATION),
  ),
  dicom("endless images", SOME, (socket) => {
    socket.write(Buffer.concat([ASSOCIATION, startOfStore("1.2.8.1")]));
    pump(socket, () => moreOfImage);
  }),
  dicom("images whose responses are not read", SOME, deaf(results((n) => imageOf(n, "deaf"), ASSOCIATION))),
  dicom(
    "images as fast as the agent reads",
    SOME,
    results((n) => imageOf(n, "fast"), ASSOCIATION),
  ),
];

/** Starts the flood with this name on a port. @returns a function that ends it */
export function beginFlood(name: string, port: number): () => void {
  const flood = FLOODS.find((of) => of.name === name);
  if (flood === undefined) throw new Error(`expected the name of a flood, got ${name}`);
  const sockets = new HostileSockets(port);
  flood.begin(sockets);
  return () => sockets.stop();
}
