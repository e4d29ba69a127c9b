import { type Config, DICOM } from "../../../config/values/schema.ts";
import { isStoredFile } from "../../../maker/files/open-file.ts";
import { MAKER_BYTES_MAX } from "../../../maker/tree.ts";
import type { MakerDevice, MakerSource } from "../../types/maker.ts";
import { readSpool } from "../../../spool/access.ts";
import { readStrayBytes } from "../../../spool/queries/events/noise.ts";
import { pageOfMessages } from "../../../spool/queries/messages/message-summaries.ts";
import { messageOf } from "../../../tools/offline/reprocess.ts";

// The bytes that a profile is made of: what devices sent, or what a person pastes.

const LISTED_MAX = 20;

/** Lists the devices with what they sent. Messages that were not understood come first. */
export function makerDevices({ data, devices }: Config): MakerDevice[] {
  return readSpool(data, (db) =>
    devices
      .filter(({ profile }) => profile !== DICOM)
      .map(({ id, profile }) => {
        const newest = pageOfMessages(db, { state: null, device: id }, null, LISTED_MAX).messages;
        const messages = newest.map((each) => ({ id: each.id, received_at: each.received_at, state: each.state }));
        const noise = readStrayBytes(db, id, 1)?.bytes ?? 0;
        const [bad, good] = [true, false].map((wanted) =>
          messages.filter(({ state }) => (state === "quarantined") === wanted),
        );
        return { id, profile, noise, messages: [...bad!, ...good!] };
      }),
  );
}

/** Returns the stored files of a source, each of which is one message; null for other bytes. */
export function sourceFiles({ data }: Config, source: MakerSource): Uint8Array[] | null {
  if (!("messages" in source)) return null;
  const files = readSpool(data, (db) => source.messages.map((id) => messageOf(db, id).bytes));
  return files.every(isStoredFile) ? files : null;
}

/** Returns the bytes of a source. @throws Error with what to do */
export function sourceBytes({ data }: Config, source: MakerSource): Uint8Array {
  if ("device" in source) {
    const stray = readSpool(data, (db) => readStrayBytes(db, source.device, MAKER_BYTES_MAX / 2));
    return Buffer.concat((stray?.chunks ?? []).map(({ bytes }) => bytes));
  }
  if ("messages" in source) {
    const parts = readSpool(data, (db) => source.messages.map((id) => messageOf(db, id).bytes));
    // Each protocol ends its records with CR.
    return Buffer.concat(parts.flatMap((part) => [part, Buffer.from("\r")]));
  }
  if ("base64" in source) return Buffer.from(source.base64, "base64");
  if ("text" in source) return Buffer.from(controls(source.text.replaceAll(/\r?\n/g, "\r")));
  return Buffer.from(source.hex.replaceAll(/0x|[^0-9a-f]/gi, ""), "hex");
}

const NAMES: Readonly<Record<string, string>> = {
  ...{ VT: "\x0b", FS: "\x1c", CR: "\r", LF: "\n", STX: "\x02", ETX: "\x03", EOT: "\x04", ENQ: "\x05", ACK: "\x06" },
  ...{ ETB: "\x17", SOH: "\x01", NAK: "\x15", TAB: "\t", BOM: "\ufeff" },
};

/** Logs and the agent's page write control characters by name. */
function controls(text: string): string {
  return text.replaceAll(/<([A-Z]{2,3})>/g, (written, name: string) => NAMES[name] ?? written);
}
