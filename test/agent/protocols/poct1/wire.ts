import { type Element, find } from "../../../../agent/protocols/poct1/xml/xml.ts";
import type { DeviceReport } from "../../../../agent/report/device-report.ts";
import type { LinkAction } from "../../../../agent/protocols/link.ts";
import { Poct1Link } from "../../../../agent/protocols/poct1/link.ts";
import type { Refusals } from "../../../../agent/protocols/poct1/replies.ts";
import type { OperatorBook } from "../../../../agent/protocols/poct1/topics.ts";
import { readMessage } from "../../../../agent/protocols/poct1/message.ts";
import { fixedContext } from "../../../support/protocols/wire.ts";

// Documents of a device as text, and of the agent in short form: `ACK AA 3`, `REQ ROBS`.

export const NOW = fixedContext.now();
export const XML = '<?xml version="1.0" encoding="utf-8"?>';

/** Encodes a document of the device. @param content XML of the body */
export function said(root: string, controlId: number | string, content = "", createdAt = NOW): string {
  const header = `<HDR><HDR.control_id V="${controlId}"/><HDR.version_id V="POCT1"/><HDR.creation_dttm V="${createdAt}"/></HDR>`;
  return `<${root}>${header}${content}</${root}>`;
}

export function hello({ vendor = "ACME", directives = ["START_CONTINUOUS"], timeout = "30", id = 1 } = {}): string {
  const offered = directives.map((directive) => `<DSC.directives_supported_cd V="${directive}"/>`).join("");
  return said(
    "HEL.R01",
    id,
    `<DEV><DEV.device_id V="${vendor}^BG1^SN77"/><DEV.vendor_id V="${vendor}"/><DEV.model_id V="BG1"/><DEV.serial_id V="SN77"/>` +
      `<DCP><DCP.application_timeout V="${timeout}"/></DCP><DSC><DSC.connection_profile_cd V="SA"/>${offered}</DSC></DEV>`,
  );
}

export function status(id: number | string, observations: number, events = 0, createdAt = NOW): string {
  const quantities = `<DST.new_observations_qty V="${observations}"/><DST.new_events_qty V="${events}"/>`;
  return said("DST.R01", id, `<DST>${quantities}<DST.condition_cd V="R"/></DST>`, createdAt);
}

export function observation(id: number | string, value = "7.31", root = "OBS.R01"): string {
  const obs = `<OBS><OBS.observation_id V="pH" SN="ACME"/><OBS.value V="${value}"/></OBS>`;
  return said(root, id, `<SVC><SVC.role_cd V="OBS"/><PT><PT.patient_id V="K9-0042"/>${obs}</PT></SVC>`);
}

export function endOfTopic(id: number | string, topic = "OBS"): string {
  return said("EOT.R01", id, `<EOT><EOT.topic_cd V="${topic}"/></EOT>`);
}

export function acknowledgement(id: number | string, of: number | string, type = "AA"): string {
  return said("ACK.R01", id, `<ACK><ACK.type_cd V="${type}"/><ACK.ack_control_id V="${of}"/></ACK>`);
}

export function escape(id: number | string, of: number | string, detail: string): string {
  return said("ESC.R01", id, `<ESC><ESC.esc_control_id V="${of}"/><ESC.detail_cd V="${detail}"/></ESC>`);
}

export function bytes(text: string): Uint8Array {
  return Buffer.from(text, "utf8");
}

/** Message for send() that gives `DTV LOCK`. */
export function directivePart(command: string): Uint8Array {
  return bytes(`<DTV.R01><DTV><DTV.command_cd V="${command}"/></DTV></DTV.R01>`);
}

/** A document of the agent: its short form and control id. */
export interface Word {
  readonly id: number;
  readonly text: string;
}

export function wordOf(reply: Uint8Array): Word {
  const framed = reply[0] === 0x0b;
  const message = readMessage(framed ? reply.subarray(1, -2) : reply);
  if (message.is === "unreadable") throw new Error(`we sent an unreadable document: ${message.problem}`);
  const name = message.root.name.slice(0, 3);
  if (name === "OPL" || name === "EOT")
    return { id: Number(message.controlId), text: [name, ...listed(message.root)].join(" ") };
  const fields = ["ACK.type_cd", "ACK.ack_control_id", "ACK.control_id", "REQ.request_cd", "DTV.command_cd", "TM.dttm"];
  const texts = [...fields, "TRM.reason_cd", "ACK.note_txt"].map((each) => find(message.root, each)?.attributes["V"]);
  return { id: Number(message.controlId), text: [name, ...texts.filter((text) => text !== undefined)].join(" ") };
}

/** Returns the values of a list in order. */
function listed(element: Element): string[] {
  const told = /^(?:UPD\.action_cd|OPR\.|ACC\.|EOT\.topic_cd)/.test(element.name)
    ? [element.attributes["V"] ?? ""]
    : [];
  return [...told, ...element.children.flatMap(listed)];
}

/** A link and its actions. */
export class DialogueHarness {
  readonly link: Poct1Link;
  readonly delivered: { readonly message: string; readonly incomplete: string | null }[] = [];
  readonly warnings: string[] = [];
  readonly words: Word[] = [];
  /** Names that the device gave itself, one per HELLO. */
  readonly identified: string[] = [];
  readonly news: DeviceReport[] = [];
  timerMs: number | null = null;
  hungUp = false;
  /** A directive is neither sent nor unsent. */
  sending = false;
  /** Replies since the last call of replies(). */
  #said: string[] = [];

  constructor(operators?: OperatorBook, refusals?: Refusals) {
    this.link = new Poct1Link(fixedContext, operators, refusals);
  }

  /** Feeds documents to the link. @returns the replies */
  hears(...documents: readonly string[]): string[] {
    for (const document of documents) {
      const chunk = bytes(document);
      this.carryOut(this.link.receive(chunk));
    }
    return this.replies();
  }

  timeout(): string[] {
    this.timerMs = null;
    this.carryOut(this.link.timeout());
    return this.replies();
  }

  /** Sends a directive. @returns the replies */
  give(command: string): string[] {
    this.sending = true;
    this.carryOut(this.link.send(directivePart(command)));
    return this.replies();
  }

  replies(): string[] {
    const replies = this.#said;
    this.#said = [];
    return replies;
  }

  /** Control id of the last document of the agent. */
  get lastId(): number {
    return this.words.at(-1)?.id ?? 0;
  }

  /** Control id of the last document that awaits a reply. */
  get lastAskedId(): number {
    return this.words.findLast(({ text }) => !text.startsWith("ACK"))?.id ?? 0;
  }

  carryOut(actions: readonly LinkAction[]): void {
    for (const action of actions) {
      switch (action.do) {
        case "reply": {
          const word = wordOf(action.bytes);
          this.words.push(word);
          this.#said.push(word.text);
          break;
        }
        case "deliver":
          this.delivered.push({
            message: Buffer.from(action.message).toString("utf8"),
            incomplete: action.incomplete,
          });
          break;
        case "warn":
          this.warnings.push(action.reason);
          break;
        case "timer":
          this.timerMs = action.ms;
          break;
        case "report":
          this.news.push(action.report);
          break;
        case "identify":
          this.identified.push(action.name);
          break;
        case "close":
          this.hungUp = true;
          this.#said.push("close");
          break;
        case "sent":
          this.sending = false;
          this.#said.push("sent");
          break;
        case "unsent":
          this.sending = false;
          this.#said.push(`unsent: ${action.reason}`);
          break;
      }
    }
  }
}
