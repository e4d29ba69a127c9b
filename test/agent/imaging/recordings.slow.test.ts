import fs from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { Scp, type ScpAction } from "../../../agent/protocols/dicom/network/scp.ts";
import { parseDicomTarget, parseKinds, playModality } from "../../../agent/tools/simulator/modality.ts";
import { fixturesFolder } from "../../support/runner/fixtures.ts";
import { parseRecording } from "../../support/protocols/dicom-recording.ts";
import { useDicomServer } from "../../support/protocols/dicom-server.ts";
import { useSpool } from "../../support/spool.ts";

// Each recording in fixtures/dicom/ is a regression test. Its device bytes go to a fresh provider in any segmentation, and the
// responses must equal the recorded ones.

const used = useSpool();
const served = useDicomServer(used);
const folder = path.join(fixturesFolder, "dicom");
const recordings = fs.readdirSync(folder).filter((name) => name.endsWith(".pdu"));

/** Returns the provider's responses to the device's bytes in hexadecimal. Every instance is stored. */
function responsesTo(chunks: readonly Uint8Array[]): string {
  const scp = new Scp({ aeTitle: "VETWIRE", callingAeTitles: [], admits: () => true });
  const written: Uint8Array[] = [];
  let messageId = 0;
  const carryOut = (actions: readonly ScpAction[]) => {
    for (const action of actions) {
      if (action.do === "write") written.push(action.bytes);
      else if (action.do === "begin") messageId = action.instance.messageId;
      else if (action.do === "store") carryOut(scp.respond(messageId, STATUS.success, null));
    }
  };
  for (const chunk of chunks) carryOut(scp.receive(chunk));
  return Buffer.concat(written).toString("hex");
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const edges = [0, ...places.toSorted((one, other) => one - other), bytes.length];
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index] ?? 0, edge));
}

/** Returns the device's bytes by turn, because a device waits for the response before it continues. */
function read(text: string): { turns: Uint8Array[]; receiver: string } {
  const turns: Uint8Array[] = [];
  const responses: Uint8Array[] = [];
  let last = "";
  for (const { from, bytes } of parseRecording(text)) {
    if (from === "receiver") responses.push(bytes);
    else if (last === "device") turns.push(Buffer.concat([turns.pop()!, bytes]));
    else turns.push(bytes);
    last = from;
  }
  return { turns, receiver: Buffer.concat(responses).toString("hex") };
}

test.each(recordings)("%s gets the recorded responses, in every segmentation", (name) => {
  const { turns, receiver } = read(fs.readFileSync(path.join(folder, name), "utf8"));
  expect(responsesTo(turns)).toBe(receiver);
  expect(responsesTo(turns.flatMap((turn) => cut(turn, [...turn.keys()])))).toBe(receiver);
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 40 }), (places) => {
      const cuts = (turn: Uint8Array) => places.map((place) => Math.floor(place * turn.length));
      expect(responsesTo(turns.flatMap((turn) => cut(turn, cuts(turn))))).toBe(receiver);
    }),
    { seed: 2, numRuns: 20 },
  );
});

describe("the simulator", () => {
  const patient = { id: "4711", name: "Simulated^Rex", species: "dog" };
  const target = () => parseDicomTarget(`dicom://127.0.0.1:${served.port}`)!;

  test("the simulator sends a study of every kind, and the agent stores it", async () => {
    const study = await playModality(target(), parseKinds("cr,us,es,sr"), patient, "20260504090000");
    const stored = await used.spool.call("instancesOf", study);
    expect(stored.map(({ sopClass }) => sopClass).toSorted()).toEqual([
      "1.2.840.10008.5.1.4.1.1.1",
      "1.2.840.10008.5.1.4.1.1.3.1",
      "1.2.840.10008.5.1.4.1.1.77.1.1",
      "1.2.840.10008.5.1.4.1.1.88.33",
    ]);
  });

  test("the simulator reports a rejection and an unknown kind or address", async () => {
    await expect(playModality({ ...target(), calledAe: "OTHER" }, ["cr"], patient, "20260504090000")).rejects.toThrow(
      "called AE title not recognized",
    );
    expect(() => parseKinds("cr,mr")).toThrow("unknown image kind mr, expected some of cr, us, es, sr");
    expect(() => parseDicomTarget("dicom://host")).toThrow("expected dicom://CALLING@host:port/CALLED");
    expect(parseDicomTarget("tcp://host:1")).toBe(null);
  });
});

test("an invalid line of a recording is reported by its number", () => {
  expect(() => parseRecording("# by hand\n< 0100\n? 02")).toThrow("line 2: expected < or > and hexadecimal bytes");
});
