import { ActionQueue } from "../action-queue.ts";
import { CR, crc16Of } from "../bytes.ts";
import type { Link, LinkAction } from "../link.ts";
import { isUsualBetweenMessages, Noise, NOISE_TIMEOUT_MS } from "../noise.ts";
import { SILENCE_MS, TEXT_BYTES_MAX } from "./one-way-link.ts";

// Link of devices that send lines: a header, a line that names the frame, data, and END_RESULT or END_CALI with a check number.
// Older firmware writes header and name in one line: `MYTHIC 1;;RESULT`. The number is the CRC-16 (Modbus) of everything before
// that line, in decimal. The device waits for a reply to CONNECT, RESULT_READY and each END line, and repeats a frame without its
// acknowledgement.

/** Max bytes of a line between two frames. A header has about 40, and a longer line is noise. */
export const LINE_BYTES_MAX = 256;

const WORDS = "CONNECT|DISCONNECT|RESULT_READY|STARTUP|ASK_FOLDER|ANALYSE|RESULT|CALIBRATION|END_RESULT|END_CALI";
/** One field, in any charset: patients and users have names. */
const FIELD = "[ -:<-~\\x80-\\xff]";
/** A header in the line itself, the word that starts, ends or needs no frame, and the other fields. */
const KEYWORD = new RegExp(`^\\n?((?:${FIELD}+;(?:${FIELD}*;){0,4}?)?)(${WORDS}) *(?:;([ -~\\x80-\\xff]*))?\\r$`);
/** Place of the lot among the fields after CALIBRATION. */
const LOT = 3;

interface Frame {
  /** The line that ends the frame. */
  readonly end: "END_RESULT" | "END_CALI";
  /** Lot of the calibrator; "" in a frame of results. */
  readonly lot: string;
  /** Header in the line that names the frame; "" for one in a line before it. */
  readonly header: string;
}

export class CrcLinesLink implements Link {
  /** The frame that arrives; null between two. */
  #frame: Frame | null = null;
  /** Bytes of the frame; between two frames the last line, which may be a header, and the line after it. */
  #bytes: number[] = [];
  /** Start of the last complete line in #bytes, and of the line that arrives. */
  #lastLineAt = 0;
  #lineAt = 0;
  /** Bytes of the frame are missing. */
  #isDamaged = false;
  readonly #noise = new Noise("outside a frame");
  readonly #actions = new ActionQueue();

  get isIdle(): boolean {
    return this.between !== null && !this.#noise.isPending;
  }

  get between(): string | null {
    return this.#bytes.length === 0 ? "between frames" : null;
  }

  receive(chunk: Uint8Array): LinkAction[] {
    for (const byte of chunk) this.#step(byte);
    return this.#drainActions();
  }

  /** Sends no reply, so that the device repeats the frame. */
  refuse(): LinkAction[] {
    return this.gap();
  }

  gap(): LinkAction[] {
    if (this.#frame === null) this.#ignore(this.#bytes.length);
    else this.#isDamaged = true;
    return [];
  }

  timeout(): LinkAction[] {
    this.#end("the device fell silent before the end of its frame");
    return this.#drainActions();
  }

  close(): LinkAction[] {
    this.#end("the connection closed before the end of the frame");
    return this.#drainActions();
  }

  #step(byte: number): void {
    if (this.#frame === null) this.#readBetween(byte);
    else this.#readFrame(byte);
  }

  #readBetween(byte: number): void {
    const isLineEmpty = this.#bytes.length === this.#lineAt;
    if (byte === CR && !isLineEmpty) {
      this.#bytes.push(byte);
      this.#endLine();
    } else if (byte >= 0x20) {
      this.#bytes.push(byte);
      if (this.#bytes.length - this.#lineAt > LINE_BYTES_MAX) this.#ignore(this.#bytes.length);
    } else if (!isUsualBetweenMessages(byte)) {
      // A control character outside a frame is noise: no line has one.
      this.#bytes.push(byte);
      this.#ignore(this.#bytes.length);
    }
  }

  #readFrame(byte: number): void {
    if (this.#bytes.length >= TEXT_BYTES_MAX) {
      this.#giveUp(`a frame of more than ${TEXT_BYTES_MAX} bytes`);
      this.#readBetween(byte);
      return;
    }
    this.#bytes.push(byte);
    if (byte === CR) this.#endLine();
  }

  #endLine(): void {
    const [, header = "", word, written = ""] = KEYWORD.exec(latin1(this.#bytes.slice(this.#lineAt))) ?? [];
    const fields = written.split(";").map((field) => field.trim());
    const keyword = this.#isData(header, word) ? undefined : word;
    switch (keyword) {
      case "CONNECT":
        this.#endDialogueLine(header);
        this.#reply("ACK_CONNECT", fields.at(-1) ?? "");
        return;
      case "DISCONNECT":
      case "ASK_FOLDER": // queries the patient of a sample, and goes on without a reply
      case "ANALYSE":
        this.#endDialogueLine(header);
        return;
      case "RESULT_READY":
        this.#endDialogueLine(header);
        this.#reply("ACK_RESULT_READY");
        return;
      case "STARTUP":
        this.#beginFrame(header);
        this.#actions.deliver(Uint8Array.from(this.#bytes), null);
        this.#clear();
        return;
      case "RESULT":
        this.#beginFrame(header);
        this.#frame = { end: "END_RESULT", lot: "", header };
        return;
      case "CALIBRATION":
        this.#beginFrame(header);
        this.#frame = { end: "END_CALI", lot: fields[LOT] ?? "", header };
        return;
      case "END_RESULT":
      case "END_CALI":
        this.#endFrame(keyword, fields[0] ?? "");
        return;
      default:
        // Between two frames only the last line may be a header.
        if (this.#frame === null) this.#ignore(this.#lineAt);
        this.#lastLineAt = this.#lineAt;
        this.#lineAt = this.#bytes.length;
    }
  }

  /** Returns whether a word within a frame is data, such as a comment `RESULT`: only the frame's own model makes it the link's. */
  #isData(header: string, word: string | undefined): boolean {
    if (this.#frame === null) return false;
    if (header === "") return word === "ASK_FOLDER" || word === "ANALYSE";
    return modelOf(header) !== modelOf(this.#frame.header);
  }

  /** Ends a line of the dialogue, which has no data. A header before it belongs to it. */
  #endDialogueLine(header: string): void {
    this.#beginFrame(header);
    this.#clear();
  }

  /** Keeps the header and the line that names the frame. A frame before them lacks its end. */
  #beginFrame(header: string): void {
    const from = header === "" ? this.#lastLineAt : this.#lineAt;
    const own = this.#bytes.slice(from);
    this.#bytes = this.#bytes.slice(0, from);
    if (this.#frame !== null) this.#giveUp("a new frame began before its end");
    this.#actions.push(this.#noise.end());
    this.#bytes = own;
    this.#lastLineAt = 0;
    this.#lineAt = own.length;
  }

  #endFrame(end: Frame["end"], written: string): void {
    const frame = this.#frame;
    const computed = crc16Of(Uint8Array.from(this.#bytes.slice(0, this.#lineAt)));
    const isRight = frame?.end === end && isNumber(written, computed) && !this.#isDamaged;
    if (frame === null) {
      this.#actions.warn(`${end} without the beginning of its frame`);
      this.#ignore(this.#bytes.length);
    } else {
      this.#bytes = this.#bytes.slice(0, this.#lineAt);
      const problem = `${end} with the check number ${written || "(none)"}, computed ${computed}`;
      if (!isRight) this.#actions.warn(problem);
      this.#deliver(isRight ? null : `${problem}: bytes of it are wrong or missing`);
    }
    const code = isRight ? "OK" : "CRC_ERROR";
    if (end === "END_RESULT") this.#reply("ACK_RESULT", code);
    else this.#reply("ACK_CALI", frame?.lot ?? "", code);
  }

  #end(incomplete: string): void {
    if (this.#frame === null) this.#ignore(this.#bytes.length);
    else this.#giveUp(incomplete);
    this.#actions.push(this.#noise.end());
  }

  #giveUp(incomplete: string): void {
    if (this.#bytes.length > 0) this.#deliver(incomplete);
    else this.#clear();
  }

  #deliver(incomplete: string | null): void {
    const problem = this.#isDamaged ? "bytes of it could not be stored" : incomplete;
    this.#actions.deliver(Uint8Array.from(this.#bytes), problem);
    this.#clear();
  }

  #clear(): void {
    this.#frame = null;
    this.#isDamaged = false;
    this.#bytes = [];
    this.#lastLineAt = 0;
    this.#lineAt = 0;
  }

  /** Takes the first bytes out and counts them as noise. */
  #ignore(count: number): void {
    for (const byte of this.#bytes.slice(0, count)) this.#actions.push(this.#noise.add(byte));
    this.#bytes = this.#bytes.slice(count);
    this.#lastLineAt = 0;
    this.#lineAt = 0;
  }

  #reply(...fields: readonly string[]): void {
    this.#actions.reply(Buffer.from(`${fields.join(";")}\r`, "latin1"));
  }

  #drainActions(): LinkAction[] {
    if (this.#bytes.length > 0) this.#actions.startTimer(SILENCE_MS);
    else if (this.#noise.isPending) this.#actions.startTimer(NOISE_TIMEOUT_MS);
    else this.#actions.stopTimer();
    return this.#actions.drain();
  }
}

function isNumber(written: string, expected: number): boolean {
  return /^\d{1,5}$/.test(written) && Number(written) === expected;
}

/** Returns the first field of a header. */
function modelOf(header: string): string {
  return header.split(";", 1)[0] ?? "";
}

function latin1(bytes: readonly number[]): string {
  return Buffer.from(bytes).toString("latin1");
}
