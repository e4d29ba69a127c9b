import { ACK, ENQ, EOT, FS, NAK } from "../../../agent/protocols/bytes.ts";
import { DICOM } from "../../../agent/config/values/schema.ts";
import { readCommand, STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { encodeDataset } from "../../../agent/protocols/dicom/encode.ts";
import { encodeAssociateRequest } from "../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { PduReader } from "../../../agent/protocols/dicom/network/pdu-reader.ts";
import { frames, vetScanRecords } from "../../support/protocols/astm.ts";
import { associateRequest, CR_STORAGE, EXPLICIT, storeRequest } from "../../support/protocols/dicom.ts";
import { frameOf, verdict } from "../../support/protocols/hl7.ts";
import {
  acknowledgement,
  helloDocument,
  observation,
  repliesIn,
  statusDocument,
} from "../../support/protocols/poct1.ts";
import type { Cable, Connection } from "./cable.ts";
import type { Chance } from "./chance.ts";
import type { Clock, Process } from "./clock.ts";

// The devices. Each sends its messages one after another, and sends one again until it is acknowledged, as analyzers do.

/** A message of a device. Its number is the value of its ALT, so that each study can be traced back to it. */
export interface Message {
  readonly number: number;
  readonly device: string;
  /** The number of the measurement. A later message with the same one corrects it. */
  readonly measurement: number;
  /** As typed at the device. */
  readonly patient: string;
  /** An image has no ALT. A later one with the same measurement is a further image of the study. */
  readonly isImage: boolean;
  /** The value is of control material, and of no patient. */
  readonly isControl: boolean;
}

/** The device's side of one connection. */
interface Talker {
  /** Sends a message; `done` reports whether it was acknowledged. */
  transmit(message: Message, done: (isAcknowledged: boolean) => void): void;
  received(bytes: Uint8Array): void;
  /** Nothing was received for the device's waiting time. */
  timeout(): void;
}

type Protocol = (send: (bytes: Uint8Array) => void) => Talker;

/** The time of a measurement, in ms since 1970. Each has a second of its own. */
export function measuredAt(measurement: number): number {
  return Date.UTC(2026, 1, 1, 9) + measurement * 1000;
}

/** Writes a time as a device does: YYYYMMDDHHMMSS. */
function deviceTime(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/\D/g, "").slice(0, 14);
}

const hl7: Protocol = (send) => {
  let text = Buffer.alloc(0);
  let pending: { readonly id: string; readonly done: (isAcknowledged: boolean) => void } | null = null;
  const finish = (isAcknowledged: boolean) => {
    const { done } = pending ?? {};
    pending = null;
    done?.(isAcknowledged);
  };
  return {
    transmit({ number, measurement, patient, isControl }, done) {
      pending = { id: String(number), done };
      const at = deviceTime(measuredAt(measurement));
      send(
        frameOf([
          `MSH|^~\\&|CHEM|Vendor|||${at}||ORU^R01|${number}|${isControl ? "Q" : "P"}|2.3.1`,
          `PID|1||${patient}`,
          `OBR|1|||CHEM|||${at}`,
          `OBX|1|NM|1742-6^ALT^LN||${number}|U/L|10-118|N|||F`,
        ]),
      );
    },
    received(bytes) {
      text = Buffer.concat([text, bytes]);
      for (let end = text.indexOf(FS); end >= 0 && end + 1 < text.length; end = text.indexOf(FS)) {
        const [code, id] = verdict(text.subarray(1, end).toString("latin1")).split(" ");
        text = text.subarray(end + 2);
        if (id === pending?.id) finish(code === "AA");
      }
    },
    timeout: () => finish(false),
  };
};

const FRAME_TRIES_MAX = 6;

const astm: Protocol = (send) => {
  let left: Uint8Array[] = [];
  let tries = 0;
  /** The ENQ is not acknowledged yet. */
  let isAsking = false;
  let pending: ((isAcknowledged: boolean) => void) | null = null;
  const finish = (isAcknowledged: boolean) => {
    const done = pending;
    pending = null;
    if (!isAsking) send(Uint8Array.of(EOT));
    done?.(isAcknowledged);
  };
  const sendFrame = () => {
    const [frame] = left;
    if (frame === undefined) finish(true);
    else if (++tries > FRAME_TRIES_MAX) finish(false);
    else send(frame);
  };
  return {
    transmit({ number, measurement, patient }, done) {
      left = frames(
        vetScanRecords({ patient, species: "Dog", collected: deviceTime(measuredAt(measurement)), alt: number }),
      );
      [tries, isAsking, pending] = [0, true, done];
      send(Uint8Array.of(ENQ));
    },
    received(bytes) {
      for (const byte of bytes) {
        if (pending === null || (byte !== ACK && byte !== NAK && byte !== EOT)) continue;
        if (isAsking && byte === ACK) isAsking = false;
        else if (isAsking) return finish(false);
        else if (byte !== NAK) {
          left.shift();
          tries = 0;
        }
        sendFrame();
      }
    },
    timeout: () => finish(false),
  };
};

const ALT = { code: "1742-6", name: "ALT", unit: "U/L" };

const poct1: Protocol = (send) => {
  let text = "";
  let controlId = 0;
  let isContinuous = false;
  let onContinuous: (() => void) | null = null;
  let pending: { readonly id: number; readonly done: (isAcknowledged: boolean) => void } | null = null;
  let failed: (isAcknowledged: boolean) => void = () => undefined;
  const ask = (document: (id: number) => Uint8Array, done: (isAcknowledged: boolean) => void) => {
    pending = { id: ++controlId, done };
    send(document(controlId));
  };
  const fail = () => {
    [pending, onContinuous] = [null, null];
    failed(false);
  };
  return {
    transmit({ device, number, measurement, patient }, done) {
      failed = done;
      const at = new Date(measuredAt(measurement)).toISOString().replace("Z", "+00:00");
      const observe = () =>
        ask((id) => observation(id, { patient, at, sequence: measurement, value: number, analyte: ALT }), done);
      if (isContinuous) return observe();
      ask(
        (id) => helloDocument(id, device),
        (isGreeted) => {
          if (!isGreeted) return fail();
          onContinuous = observe;
          ask(statusDocument, (isAccepted) => (isAccepted ? undefined : fail()));
        },
      );
    },
    received(bytes) {
      const { replies, rest } = repliesIn(text + Buffer.from(bytes).toString("latin1"));
      text = rest;
      for (const reply of replies) {
        if (reply.is === "directive") {
          send(acknowledgement(++controlId, reply.controlId));
          isContinuous = true;
          onContinuous?.();
          onContinuous = null;
        } else if (reply.to === pending?.id) {
          const { done } = pending;
          pending = null;
          done(reply.accepted);
        }
      }
    },
    timeout: fail,
  };
};

const dicom: Protocol = (send) => {
  const reader = new PduReader();
  let isAssociated = false;
  let store: (() => void) | null = null;
  let pending: ((isAcknowledged: boolean) => void) | null = null;
  const finish = (isAcknowledged: boolean) => {
    const done = pending;
    [pending, store] = [null, null];
    done?.(isAcknowledged);
  };
  return {
    transmit(message, done) {
      pending = done;
      const image = imageOf(message);
      const sendImage = () => send(storeRequest(1, instanceUid(message), image));
      if (isAssociated) return sendImage();
      store = sendImage;
      send(encodeAssociateRequest(associateRequest([[CR_STORAGE, EXPLICIT]])));
    },
    received(bytes) {
      for (const pdu of reader.receive(bytes)) {
        if (pdu.is === "associate-accept") {
          isAssociated = true;
          store?.();
          store = null;
        } else if (pdu.is === "data") {
          const command = readCommand(pdu.bytes);
          finish(typeof command !== "string" && command.status === STATUS.success);
        } else finish(false);
      }
    },
    timeout: () => finish(false),
  };
};

export function instanceUid({ number }: Pick<Message, "number">): string {
  return `1.2.9.${number}`;
}

/** An image. Images of one measurement are one study. */
function imageOf(message: Message): Uint8Array {
  const time = deviceTime(measuredAt(message.measurement));
  return encodeDataset([
    [0x0008_0016, "UI", CR_STORAGE],
    [0x0008_0018, "UI", instanceUid(message)],
    [0x0008_0020, "DA", time.slice(0, 8)],
    [0x0008_0030, "TM", time.slice(8)],
    [0x0008_0060, "CS", "CR"],
    [0x0010_0010, "PN", "Rex"],
    [0x0010_0020, "LO", message.patient],
    [0x0020_000d, "UI", `1.2.8.${message.measurement}`],
    [0x7fe0_0010, "OW", Buffer.alloc(2_000 + 2 * message.number, message.number)],
  ]);
}

const PROTOCOLS = {
  hl7: { talker: hl7, profile: "generic-hl7", isSerial: false, waitMs: 10_000 },
  // LIS01-A2 §6.5.2.2: 15 s.
  astm: { talker: astm, profile: "abaxis-vetscan-vs2", isSerial: true, waitMs: 15_000 },
  poct1: { talker: poct1, profile: "generic-poct1a", isSerial: false, waitMs: 15_000 },
  dicom: { talker: dicom, profile: DICOM, isSerial: false, waitMs: 30_000 },
} as const;

export type DeviceKind = keyof typeof PROTOCOLS;

export class Device {
  readonly id: string;
  readonly profile: string;
  readonly isImaging: boolean;
  readonly marksControls: boolean;
  readonly cable: Cable;
  /** Messages in the order in which they were acknowledged. */
  readonly acknowledged: Message[] = [];
  /** Called with each acknowledged message. */
  onAcknowledged: (message: Message) => void = () => undefined;
  readonly #waitMs: number;
  readonly #protocol: Protocol;
  readonly #clock: Clock;
  readonly #chance: Chance;
  readonly process: Process;
  readonly #queue: Message[] = [];
  #connection: Connection | null = null;
  #talker: Talker | null = null;
  #isSending = false;
  #lastHeardAt = 0;
  attempts = 0;

  constructor(id: string, kind: DeviceKind, cable: Cable, clock: Clock, chance: Chance, process: Process) {
    const { profile, waitMs, talker } = PROTOCOLS[kind];
    this.id = id;
    this.profile = profile;
    this.isImaging = kind === "dicom";
    this.marksControls = kind === "hl7";
    this.cable = cable;
    this.#waitMs = waitMs;
    this.#protocol = talker;
    this.#clock = clock;
    this.#chance = chance;
    this.process = process;
  }

  static isSerial(kind: DeviceKind): boolean {
    return PROTOCOLS[kind].isSerial;
  }

  get isDone(): boolean {
    return this.#queue.length === 0;
  }

  /** Queues a message, which the device sends until it is acknowledged. */
  send(message: Message): void {
    this.#queue.push(message);
    if (!this.#isSending) this.#sendFirst();
  }

  #sendFirst(): void {
    const [message] = this.#queue;
    this.#isSending = message !== undefined;
    if (message === undefined) return;
    if (this.#connection?.isOpen !== true) this.#connect();
    const talker = this.#talker;
    if (talker === null) return this.#again();
    let isSettled = false;
    this.attempts += 1;
    this.#heard();
    this.#watch(talker);
    talker.transmit(message, (isAcknowledged) => {
      if (isSettled) return;
      isSettled = true;
      if (!isAcknowledged) return this.#again();
      this.#queue.shift();
      this.acknowledged.push(message);
      this.onAcknowledged(message);
      this.#sendFirst();
    });
  }

  /** Sends the first message again after a while, mostly over a new connection. */
  #again(): void {
    if (this.#chance.happens(0.7)) this.#connection?.close();
    this.#clock.schedule(this.process, this.#chance.between(200, 4_000), () => this.#sendFirst());
  }

  #connect(): void {
    const connection = this.cable.connect({
      received: (bytes) => {
        this.#heard();
        talker.received(bytes);
      },
      closed: () => {
        if (this.#talker === talker) this.#talker = null;
        talker.timeout();
      },
    });
    const talker = this.#protocol((bytes) => connection?.send(bytes));
    this.#connection = connection;
    this.#talker = connection === null ? null : talker;
  }

  #heard(): void {
    this.#lastHeardAt = this.#clock.now;
  }

  /** Reports silence to the talker while it is the current one. */
  #watch(talker: Talker): void {
    const wait = this.#lastHeardAt + this.#waitMs - this.#clock.now;
    this.#clock.schedule(this.process, wait, () => {
      if (this.#talker !== talker || !this.#isSending) return;
      if (this.#clock.now >= this.#lastHeardAt + this.#waitMs) talker.timeout();
      else this.#watch(talker);
    });
  }
}
