import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { imageFolder } from "../../../agent/imaging/files/image-folder.ts";
import { encodingOf } from "../../../agent/protocols/dicom/dataset.ts";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { encodeDataset } from "../../../agent/protocols/dicom/encode.ts";
import {
  encodeAbort,
  encodeAssociateRequest,
  encodeData,
  encodeReleaseRequest,
} from "../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import {
  associateRequest,
  CR_STORAGE,
  encodeStoreRequest,
  EXPLICIT,
  IMPLICIT,
  Peer,
  storeRequest,
} from "../../support/protocols/dicom.ts";
import { freePort, until, World } from "../../support/machine/processes.ts";

// Goal: a device that repeats, converts or interrupts an image, or leaves before the response, has it filed once. Method: raw sockets to
// an agent process.

let world: World;
let port: number;

beforeAll(async () => {
  world = await World.create(1);
  port = await freePort();
  const connection = { listen: `127.0.0.1:${port}` };
  world.writeConfig([{ id: "xray", profile: "dicom", connection, aeTitle: "VETWIRE", quietSeconds: 1 }]);
  await world.startAgent();
  await world.waitForPatients();
});

afterAll(() => world?.end());

const files = () => fs.readdirSync(imageFolder(world.agentData));

/** Returns the messages of a study once they are settled. */
async function settled(uid: string) {
  return until("its messages are settled", () => {
    const own = readSpool(world.agentData, (db) =>
      db.prepare("SELECT message FROM instance WHERE study_uid = ?").pluck().all(uid),
    ) as string[];
    const messages = world.messages().filter(({ id }) => own.includes(id));
    const isSettled = messages.length > 0 && messages.every(({ state }) => state !== "pending");
    return isSettled ? messages.map(({ state, study_fps }) => ({ state, study_fps })) : null;
  });
}

const image = (study: string, transferSyntax = EXPLICIT) =>
  encodeDataset(
    [
      [0x0008_0016, "UI", CR_STORAGE],
      [0x0008_0018, "UI", `${study}.1`],
      [0x0008_0060, "CS", "CR"],
      [0x0010_0020, "LO", world.patients[0]!.externalId],
      [0x0020_000d, "UI", study],
      [0x7fe0_0010, "OW", Uint8Array.from({ length: 200_000 }, (_, at) => at % 251)],
    ],
    encodingOf(transferSyntax)!,
  );

const FILED = { state: "filed", study_fps: [expect.stringMatching(/^cds_/)] };

test("the same image on four associations is stored once, and each gets success", async () => {
  const before = files().length;
  const senders = await Promise.all(Array.from({ length: 4 }, () => Peer.associate(port)));
  for (const sender of senders) sender.send(storeRequest(1, "1.2.30.1", image("1.2.30")));
  for (const sender of senders) {
    expect(await sender.status()).toBe(STATUS.success);
    sender.end();
  }
  expect(files()).toHaveLength(before + 1);
  expect(await settled("1.2.30")).toEqual([FILED]);
});

test("an image in two transfer syntaxes is kept in both, in one study", async () => {
  const before = files().length;
  const sender = await Peer.connect(port);
  sender.send(
    encodeAssociateRequest(
      associateRequest([
        [CR_STORAGE, EXPLICIT],
        [CR_STORAGE, IMPLICIT],
      ]),
    ),
  );
  expect((await sender.next())?.is).toBe("associate-accept");
  for (const [context, syntax] of [
    [1, EXPLICIT],
    [3, IMPLICIT],
  ] as const) {
    sender.send(storeRequest(context, "1.2.31.1", image("1.2.31", syntax)));
    expect(await sender.status()).toBe(STATUS.success);
  }
  sender.end();
  expect(files()).toHaveLength(before + 2);
  const [first, second, ...more] = await settled("1.2.31");
  expect([first, more]).toEqual([FILED, []]);
  expect(second).toEqual(first);
});

test("an image that an abort interrupted is filed after its resend, also with the release in the same write", async () => {
  const bytes = image("1.2.32");
  const cut = await Peer.associate(port);
  const command = encodeStoreRequest(1, CR_STORAGE, "1.2.32.1");
  cut.send(encodeData({ context: 1, part: "command", bytes: command, last: true }, 0));
  cut.send(encodeData({ context: 1, part: "dataset", bytes: bytes.subarray(0, 100_000), last: false }, 0));
  cut.send(encodeAbort(0, 0));
  cut.end();
  const sender = await Peer.associate(port);
  sender.send(Buffer.concat([storeRequest(1, "1.2.32.1", bytes), encodeReleaseRequest()]));
  await until("the association is released", async () => (await sender.next())?.is === "release-response");
  sender.end();
  expect(await settled("1.2.32")).toEqual([FILED]);
  const kept = files().map((name) => fs.readFileSync(path.join(imageFolder(world.agentData), name)));
  expect(kept.filter((file) => file.subarray(-bytes.length).equals(bytes))).toHaveLength(1);
});
