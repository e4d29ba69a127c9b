import { createLink } from "../../../agent/connection/create-link.ts";
import { profileById } from "../../../agent/devices/index.ts";
import { readAttributes } from "../../../agent/protocols/dicom/attributes.ts";
import { encodingOf } from "../../../agent/protocols/dicom/dataset.ts";
import { encodeAssociateRequest } from "../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { PduReader } from "../../../agent/protocols/dicom/network/pdu-reader.ts";
import { read } from "../../../agent/study/read.ts";
import { context } from "../../agent/records.ts";
import { recordings } from "../../support/runner/fixtures.ts";
import { associateRequest, CR_STORAGE, dataset, EXPLICIT, storeRequest } from "../../support/protocols/dicom.ts";
import { diceOf, pick } from "../../support/runner/dice.ts";
import { fixedContext } from "../../support/protocols/wire.ts";

// Inputs of any length from one seed, for each profile and for DICOM: a piece of a fixture, or a run of one meaningful text, is
// repeated at a random place.

/** The input that a seed grows, and the complete pure path that reads it. */
export interface GrownInput {
  readonly protocol: string;
  /** A profile, or a part of DICOM. */
  readonly name: string;
  readonly wire: (bytes: number) => Uint8Array;
  readonly run: (wire: Uint8Array) => void;
}

interface Subject extends Omit<GrownInput, "wire"> {
  readonly start: Uint8Array;
}

/** Bytes per read of a socket. */
const CHUNK_BYTES = 1_460;
const RUNS = [
  ...["\x05", "\x02", "\x03", "\x04", "\x0b", "\x1c", "\x17", "\r", "\n", "\xff", "\0"],
  ...["|", "^", "~", "\\", "&", " ", "0", "9.", "<", ">", '"', "=", ":", ",", "A"],
  ...["<A>", "<A", 'a="', "&amp;", "\\F\\", "\\X", "OBX|", "R|1|"],
  // An item and a sequence of undefined length, and their ends.
  ...["\xfe\xff\0\xe0\xff\xff\xff\xff", "\x40\0\x07\x50SQ\0\0\xff\xff\xff\xff\xfe\xff\0\xe0\xff\xff\xff\xff"],
  ...["\xfe\xff\x0d\xe0\0\0\0\0", "\xfe\xff\xdd\xe0\0\0\0\0"],
];

const devices: Subject[] = recordings.flatMap(({ name: path, bytes }) => {
  const profile = profileById(path.split("/")[0]!);
  if (profile?.link === undefined) return [];
  const run = (wire: Uint8Array) => {
    const link = createLink(profile, fixedContext);
    const actions = [];
    for (let at = 0; at < wire.length; at += CHUNK_BYTES) {
      actions.push(...link.receive(wire.subarray(at, at + CHUNK_BYTES)));
    }
    actions.push(...link.close());
    for (const action of actions) if (action.do === "deliver") read(action.message, profile, context);
  };
  return [{ protocol: profile.protocol, name: profile.id, start: bytes, run }];
});

const encoding = encodingOf(EXPLICIT)!;
const image = dataset();
const association = encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]]));
const imaging: Subject[] = [
  {
    protocol: "dicom",
    name: "PDUs",
    start: Buffer.concat([association, storeRequest(1, "1.2.3.1", image)]),
    run: (wire) => {
      const reader = new PduReader();
      for (let at = 0; at < wire.length; at += CHUNK_BYTES) reader.receive(wire.subarray(at, at + CHUNK_BYTES));
    },
  },
  {
    protocol: "dicom",
    name: "dataset",
    start: image,
    run: (wire) => void readAttributes(wire, encoding),
  },
];

/** Every profile with a fixture and a link, and the parts of DICOM. */
export const SUBJECTS: readonly Subject[] = [...devices, ...imaging];

/** Seeds below the number of subjects reach each of them. */
export function grownInput(seed: number): GrownInput {
  const dice = diceOf(seed);
  const { start, ...subject } = SUBJECTS[seed % SUBJECTS.length]!;
  const from = dice(start.length);
  const isRun = dice(2) === 0;
  const piece = isRun
    ? Buffer.from(pick(dice, RUNS), "latin1")
    : Buffer.from(start.subarray(from, from + 1 + dice(200)));
  const at = dice(start.length);
  const end = dice(3) === 0 ? Buffer.alloc(0) : start.subarray(at);
  const wire = (length: number) => Buffer.concat([start.subarray(0, at), Buffer.alloc(length, piece), end]);
  return { ...subject, wire };
}
