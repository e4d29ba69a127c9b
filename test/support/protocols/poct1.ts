import net from "node:net";

// Device side of a POCT1-A connection. It finds replies by a pattern, without an XML parser.

const XML = '<?xml version="1.0" encoding="utf-8"?>';
const REPLY =
  /<ACK\.type_cd V="(A[AE])"\/><ACK\.ack_control_id V="(\d+)"\/>|<DTV\.R01>.*?<HDR\.control_id V="(\d+)".*?<DTV\.command_cd V="(\w+)"/g;

/** Encodes a document. */
function dml(root: string, controlId: number, body: string): Buffer {
  const header = `<HDR><HDR.control_id V="${controlId}"/><HDR.version_id V="POCT1"/><HDR.creation_dttm V="2026-11-21T13:00:05+03:00"/></HDR>`;
  return Buffer.from(`${XML}<${root}>${header}${body}</${root}>`);
}

/** The HELLO of a device that offers continuous mode. */
export function helloDocument(controlId: number, serial: string): Buffer {
  const device = `<DEV><DEV.vendor_id V="ACME"/><DEV.model_id V="BG1"/><DEV.serial_id V="${serial}"/>`;
  const offers = '<DSC><DSC.directives_supported_cd V="START_CONTINUOUS"/></DSC></DEV>';
  return dml("HEL.R01", controlId, device + offers);
}

/** The status of a device without stored observations. */
export function statusDocument(controlId: number): Buffer {
  return dml("DST.R01", controlId, '<DST><DST.new_observations_qty V="0"/></DST>');
}

export function acknowledgement(controlId: number, of: string): Buffer {
  return dml("ACK.R01", controlId, `<ACK><ACK.type_cd V="AA"/><ACK.ack_control_id V="${of}"/></ACK>`);
}

/** A reply or a directive of the agent. */
export type Poct1Reply =
  | { readonly is: "reply"; readonly to: number; readonly accepted: boolean }
  | { readonly is: "directive"; readonly controlId: string; readonly command: string };

/** Finds the complete replies in a text. @returns them, and the rest of the text */
export function repliesIn(text: string): { readonly replies: Poct1Reply[]; readonly rest: string } {
  const end = text.lastIndexOf("</");
  if (end < 0) return { replies: [], rest: text };
  const found = [...text.slice(0, end).matchAll(REPLY)];
  const replies = found.map(
    ([, type, of, controlId, command = ""]): Poct1Reply =>
      controlId === undefined
        ? { is: "reply", to: Number(of), accepted: type === "AA" }
        : { is: "directive", controlId, command },
  );
  return { replies, rest: text.slice(end) };
}

export interface Measured {
  /** As typed at the device. */
  readonly patient: string;
  /** ISO, with offset. */
  readonly at: string;
  readonly sequence: number;
  readonly value: number;
  /** Potassium by default. */
  readonly analyte?: { readonly code: string; readonly name: string; readonly unit: string };
  /** Further elements after the observation, which lengthen the document. */
  readonly more?: string;
}

const POTASSIUM = { code: "2823-3", name: "K", unit: "mmol/L" };

export function observation(controlId: number, measured: Measured): Buffer {
  const { patient, at, sequence, value, analyte = POTASSIUM, more = "" } = measured;
  const { code, name, unit } = analyte;
  const obs = `<OBS><OBS.observation_id V="${code}" SN="LN" DN="${name}"/><OBS.value V="${value}" U="${unit}"/></OBS>`;
  const fields = `<SVC.role_cd V="OBS"/><SVC.observation_dttm V="${at}"/><SVC.sequence_nbr V="${sequence}"/>`;
  return dml("OBS.R01", controlId, `<SVC>${fields}<PT><PT.patient_id V="${patient}"/>${obs}</PT>${more}</SVC>`);
}

export class Poct1Client {
  readonly #socket: net.Socket;
  #text = "";
  #controlId = 0;
  readonly #pending = new Map<number, (accepted: boolean | null) => void>();
  #isContinuous: (yes: boolean) => void = () => undefined;
  /** Directives received and acknowledged. */
  readonly directives: string[] = [];

  /** Connects a device and enters continuous mode. @returns null if the connection closes before */
  static async connect(port: number, serial: string): Promise<Poct1Client | null> {
    const client = new Poct1Client(net.connect({ host: "127.0.0.1", port, noDelay: true }));
    const continuous = new Promise<boolean>((resolve) => (client.#isContinuous = resolve));
    const greeted = await client.send((id) => helloDocument(id, serial));
    if (greeted !== true) return null;
    const accepted = await client.send(statusDocument);
    return accepted === true && (await continuous) ? client : null;
  }

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#receive(chunk.toString("latin1")));
    socket.on("error", () => undefined); // "close" follows
    socket.once("close", () => {
      for (const settle of this.#pending.values()) settle(null);
      this.#isContinuous(false);
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** Sends a document with the next control id. @returns whether the agent accepts it; null if the connection closes before */
  send(document: (controlId: number) => Uint8Array): Promise<boolean | null> {
    const id = ++this.#controlId;
    return new Promise((resolve) => {
      if (this.#socket.destroyed) return resolve(null);
      this.#pending.set(id, resolve);
      this.#socket.write(document(id));
    });
  }

  /** Sends the first bytes of a document and closes. */
  break(document: Uint8Array, bytes: number): void {
    this.#socket.write(document.subarray(0, bytes), () => this.#socket.destroy());
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(text: string): void {
    const { replies, rest } = repliesIn(this.#text + text);
    this.#text = rest;
    for (const reply of replies) {
      if (reply.is === "reply") {
        this.#pending.get(reply.to)?.(reply.accepted);
        this.#pending.delete(reply.to);
      } else {
        this.#socket.write(acknowledgement(++this.#controlId, reply.controlId));
        this.directives.push(reply.command);
        this.#isContinuous(true);
      }
    }
  }
}
