import { HeaderReader } from "../../../agent/imaging/files/header-reader.ts";
import { recoverImageFolder } from "../../../agent/imaging/files/image-folder.ts";
import { ImageStore } from "../../../agent/imaging/instance-store.ts";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { messageRow } from "../../../agent/spool/queries/messages/message-row.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { newUlid } from "../../../shared/api/fp.ts";
import { CR_STORAGE, EXPLICIT } from "../../support/protocols/dicom.ts";

// Messages and images in an agent's data folder, stored by the agent's own parts without devices.

export interface OpenAgent {
  readonly spool: Spool;
  readonly store: ImageStore;
  close(): Promise<void>;
}

export async function openAgent(data: string): Promise<OpenAgent> {
  const spool = await Spool.open(data);
  await recoverImageFolder(data, spool);
  const store = new ImageStore(data, spool, new HeaderReader());
  const close = async () => {
    store.close();
    await spool.close();
  };
  return { spool, store, close };
}

export function messageMark(number: number): string {
  return `upkeep-${number}-`;
}

export function instanceUid(number: number): string {
  return `1.2.3.88.${number}`;
}

/** Stores one message as a device's session does. `acknowledged` is called once it is durable. */
export async function addMessage({ spool }: OpenAgent, number: number, acknowledged: () => void): Promise<void> {
  const bytes = Buffer.from(`MSH|^~\\&|${messageMark(number)}|${"x".repeat(number * 50)}\r`);
  const session = spool.openSession("hl7-1", "generic-hl7");
  const framed = Buffer.concat([Buffer.of(0x0b), bytes, Buffer.of(0x1c, 0x0d)]);
  const event = { device: "hl7-1", session, kind: "chunk", bytes: framed, durable: true } as const;
  await new Promise<void>((resolve, reject) => {
    spool.append(event, (error) => (error === null ? resolve() : reject(error)));
  });
  acknowledged();
  const message = {
    id: newUlid(),
    device: "hl7-1",
    profile: "generic-hl7",
    receivedAt: Date.now(),
    bytes,
    incomplete: null,
  };
  await spool.saveMessage(() => messageRow({ ...message, session, ordinal: 0 }, null));
  spool.finishLater(session);
}

export async function addImage({ store }: OpenAgent, number: number): Promise<void> {
  const sopInstance = instanceUid(number);
  const instance = { messageId: 1, sopClass: CR_STORAGE, sopInstance, transferSyntax: EXPLICIT, callingAe: "DX1" };
  const file = store.begin("xray", 1, instance);
  file.write(Buffer.alloc(20_000, number));
  const { status } = await file.store({ study: `1.2.3.${number}`, headerBytes: 100 });
  if (status !== STATUS.success) throw new Error(`expected status 0, got ${status}`);
}
