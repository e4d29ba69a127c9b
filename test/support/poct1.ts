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

export interface Measured {
  /** As typed at the device. */
  readonly patient: string;
  /** ISO, with offset. */
  readonly at: string;
  readonly sequence: number;
  /** Potassium. */
  readonly value: number;
  /** Further elements after the observation, which lengthen the document. */
  readonly more?: string;
}

export function observation(controlId: number, { patient, at, sequence, value, more = "" }: Measured): Buffer {
  const obs = `<OBS><OBS.observation_id V="2823-3" SN="LN" DN="K"/><OBS.value V="${value}" U="mmol/L"/></OBS>`;
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
    const device = `<DEV><DEV.vendor_id V="ACME"/><DEV.model_id V="BG1"/><DEV.serial_id V="${serial}"/>`;
    const offers = '<DSC><DSC.directives_supported_cd V="START_CONTINUOUS"/></DSC></DEV>';
    const greeted = await client.send((id) => dml("HEL.R01", id, device + offers));
    if (greeted !== true) return null;
    const accepted = await client.send((id) => dml("DST.R01", id, '<DST><DST.new_observations_qty V="0"/></DST>'));
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
    this.#text += text;
    const end = this.#text.lastIndexOf("</");
    const whole = end < 0 ? "" : this.#text.slice(0, end);
    this.#text = end < 0 ? this.#text : this.#text.slice(end);
    for (const [, type, of, directive, command = ""] of whole.matchAll(REPLY)) {
      if (directive === undefined) {
        this.#pending.get(Number(of))?.(type === "AA");
        this.#pending.delete(Number(of));
      } else {
        const acknowledgement = `<ACK><ACK.type_cd V="AA"/><ACK.ack_control_id V="${directive}"/></ACK>`;
        this.#socket.write(dml("ACK.R01", ++this.#controlId, acknowledgement));
        this.directives.push(command);
        this.#isContinuous(true);
      }
    }
  }
}
