import { CR, ETX, FS, LF, NUL, TAB, VT, withCapacity } from "../../bytes.ts";
import type { LinkAction } from "../../link.ts";
import { Noise } from "../../noise.ts";
import { GREATER, isMarkupByte, LESS, QUESTION, SLASH, TagScanner } from "./tag-scanner.ts";

// Splits a POCT1-A stream into XML documents by the depth of their tags. POCT1-A has no framing: documents follow each
// other, cut anywhere by TCP. A search for the root's end tag fails, because comments, CDATA and attributes may hold
// one, and the root may nest. Every decision depends on the current byte and the state, so any segmentation of the
// stream gives the same result.

/** Max bytes kept of a document; the largest seen has 70 kB. */
export const DOCUMENT_BYTES_MAX = 1024 * 1024;
/** Max depth of elements; standard messages nest 7 deep. */
export const DEPTH_MAX = 32;
/** Max bytes of a document; then the stream is given up. */
export const UNENDED_BYTES_MAX = 2 * DOCUMENT_BYTES_MAX;

/** HemoScreen wraps each document in MLLP and expects wrapped replies. */
export type Framing = "none" | "mllp";

export type SplitterEvent =
  /**
   * A complete document. `problem`: the limit that it exceeds, null if none; only the start of a long document is kept.
   */
  | { readonly is: "document"; readonly bytes: Uint8Array; readonly problem: string | null }
  /** A document cut short by the next one or by the end of the connection. It must not be parsed. */
  | { readonly is: "truncated"; readonly bytes: Uint8Array; readonly by: string }
  /** A run of bytes outside documents. */
  | { readonly is: "junk"; readonly warning: LinkAction }
  /** The rest of the stream is unreadable. */
  | { readonly is: "hopeless"; readonly reason: string };

type SplitterState =
  /** Before or in a document. */
  | "reading"
  /** Bytes are missing: skips to the certain start of a document. */
  | "lost"
  /** The rest of the stream is unreadable. */
  | "hopeless";

const NOTHING: readonly SplitterEvent[] = [];
const SPACE = 0x20;
const BYTE_ORDER_MARKS = [0xef, 0xbb, 0xbf, 0xfe, 0xff];
/** `<?xml`. */
const DECLARATION_START = [LESS, QUESTION, 0x78, 0x6d, 0x6c];
/** Start of a document after a gap. */
const DOCUMENT_START = /^<(?:\?xml|[A-Z]+\.R\d\d)[\s/>]$/;
const DOCUMENT_START_BYTES_MAX = 16;
/** 1 for bytes that may change the state within a document. */
const DECIDES = Uint8Array.from({ length: 256 }, (_, byte) => (byte <= FS || isMarkupByte(byte) ? 1 : 0));

export class DocumentSplitter {
  #state: SplitterState = "reading";
  readonly #scanner = new TagScanner();
  /** null until the first document or frame. */
  #framing: Framing | null = null;

  /** Kept bytes of the document; after a gap, bytes that may start one. */
  #document = new Uint8Array(4096);
  #length = 0;
  #problem: string | null = null;
  /** Number of bytes of `<?xml` that end here. */
  #declarationBytes = 0;

  readonly #junk = new Noise("outside documents");
  #events: SplitterEvent[] = [];

  /** Framing of the device, also for replies. */
  get framing(): Framing {
    return this.#framing ?? "none";
  }

  get isBetweenDocuments(): boolean {
    return this.#state === "reading" && this.#scanner.isOutside && this.#scanner.size === 0;
  }

  get partial(): Uint8Array {
    return this.#document.slice(0, this.#length);
  }

  receive(chunk: Uint8Array): readonly SplitterEvent[] {
    let at = 0;
    while (at < chunk.length) {
      at = this.#keepPlain(chunk, at);
      if (at < chunk.length) this.#step(chunk[at++]!);
    }
    return this.#drain();
  }

  /** Drops the document with the missing bytes. */
  gap(): void {
    this.#beginDocument();
    this.#state = "lost";
    this.#junk.end();
  }

  close(): readonly SplitterEvent[] {
    if (this.#state === "reading") this.#cutShort("the end of the connection");
    this.#reportJunk(this.#junk.end());
    return this.#drain();
  }

  #drain(): readonly SplitterEvent[] {
    if (this.#events.length === 0) return NOTHING;
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Keeps bytes that change no state, as most within a document. @returns the offset after them */
  #keepPlain(chunk: Uint8Array, from: number): number {
    if (DECIDES[chunk[from]!] === 1 || this.#declarationBytes > 0) return from;
    if (this.#state !== "reading" || !this.#scanner.skipsPlain) return from;
    const end = Math.min(chunk.length, from + Math.max(0, DOCUMENT_BYTES_MAX - this.#scanner.size));
    this.#document = withCapacity(this.#document, this.#length + end - from);
    const document = this.#document;
    let length = this.#length;
    let at = from;
    while (at < end) {
      const byte = chunk[at]!;
      if (DECIDES[byte] === 1) break;
      document[length++] = byte;
      at += 1;
    }
    if (at === from) return from;
    this.#length = length;
    this.#scanner.skip(chunk, from, at);
    return at;
  }

  #step(byte: number): void {
    if (byte <= FS && this.#isForeign(byte)) return;
    switch (this.#state) {
      case "reading":
        this.#read(byte);
        return;
      case "lost":
        this.#seekDocument(byte);
        return;
      case "hopeless":
        return;
    }
  }

  /** Handles control characters that XML does not allow but devices send. */
  #isForeign(byte: number): boolean {
    switch (byte) {
      case NUL:
        // `<` and NUL are one character in UTF-16, in either byte order. Elsewhere NUL is padding, even within a
        // document.
        if (this.#state === "reading" && this.#scanner.isBehindLess) {
          this.#giveUp("the stream is UTF-16, expected UTF-8");
        }
        return true;
      case ETX:
        return true;
      case VT:
      case FS:
        this.#crossFrameBorder(byte);
        return true;
      default:
        return false;
    }
  }

  /** Handles the start or end of an MLLP frame. No document crosses it. */
  #crossFrameBorder(byte: typeof VT | typeof FS): void {
    if (this.#state === "hopeless") return;
    this.#state = "reading";
    if (byte === VT) this.#framing ??= "mllp";
    this.#cutShort(byte === VT ? "the start of an MLLP frame" : "the end of its MLLP frame");
  }

  #read(byte: number): void {
    const scanner = this.#scanner;
    if (scanner.isOutside && byte !== LESS) {
      if (!isBlank(byte)) this.#reportJunk(this.#junk.add(byte));
      return;
    }
    this.#framing ??= "none";
    scanner.read(byte);
    this.#append(byte);
    if (scanner.size > DOCUMENT_BYTES_MAX) this.#overrun();
    if (byte === LESS || this.#declarationBytes > 0) this.#seekDeclaration(byte);
    if (byte === GREATER) this.#endMarkup();
  }

  #endMarkup(): void {
    const scanner = this.#scanner;
    if (scanner.hasRoot && this.#junk.isPending) this.#reportJunk(this.#junk.end());
    if (scanner.depth > DEPTH_MAX) this.#problem ??= `elements nested more than ${DEPTH_MAX} deep`;
    if (scanner.isEnded) this.#endDocument();
  }

  /** A document beyond the max length is still followed to its end, to find the next one. */
  #append(byte: number): void {
    if (this.#length >= DOCUMENT_BYTES_MAX) return;
    this.#document = withCapacity(this.#document, this.#length + 1);
    this.#document[this.#length++] = byte;
  }

  #overrun(): void {
    this.#problem ??= `document of more than ${DOCUMENT_BYTES_MAX} bytes`;
    if (this.#scanner.size < UNENDED_BYTES_MAX) return;
    this.#endDocument();
    this.#giveUp(`no end of the document within ${UNENDED_BYTES_MAX} bytes`);
  }

  /**
   * Starts a document at `<?xml `, even within another one: the device was restarted. Comments and CDATA are exempt;
   * attributes are not, because XML allows no `<` there.
   */
  #seekDeclaration(byte: number): void {
    if (this.#scanner.isCommentOrCdata) {
      this.#declarationBytes = 0;
    } else if (this.#declarationBytes === DECLARATION_START.length && isSpace(byte)) {
      this.#declarationBytes = 0;
      const startBytes = DECLARATION_START.length + 1;
      if (this.#scanner.size === startBytes) return;
      this.#length = Math.min(this.#length, this.#scanner.size - startBytes);
      this.#cutShort("the next document");
      this.#begin([...DECLARATION_START, byte]);
    } else if (byte === DECLARATION_START[this.#declarationBytes]) {
      this.#declarationBytes += 1;
    } else {
      this.#declarationBytes = byte === LESS ? 1 : 0;
    }
  }

  /** Skips to the certain start of a document after a gap. */
  #seekDocument(byte: number): void {
    if (byte === LESS) this.#length = 0;
    else if (this.#length === 0 || this.#length === DOCUMENT_START_BYTES_MAX) return;
    this.#document[this.#length++] = byte;
    const isEnd = isSpace(byte) || byte === SLASH || byte === GREATER;
    if (!isEnd) return;
    const bytes = this.#document.slice(0, this.#length);
    this.#length = 0;
    if (DOCUMENT_START.test(String.fromCharCode(...bytes))) this.#begin(bytes);
  }

  #begin(bytes: Iterable<number>): void {
    this.#beginDocument();
    for (const byte of bytes) this.#step(byte);
  }

  #beginDocument(): void {
    this.#state = "reading";
    this.#scanner.reset();
    this.#length = 0;
    this.#problem = null;
    this.#declarationBytes = 0;
  }

  #endDocument(): void {
    if (this.#scanner.hasRoot) {
      this.#events.push({ is: "document", bytes: this.partial, problem: this.#problem });
    } else {
      for (const byte of this.partial) this.#reportJunk(this.#junk.add(byte)); // an end tag without its start
    }
    this.#beginDocument();
  }

  #cutShort(by: string): void {
    // A prolog alone is dropped.
    if (this.#scanner.hasRoot) {
      this.#reportJunk(this.#junk.end());
      this.#events.push({ is: "truncated", bytes: this.partial, by });
    }
    this.#beginDocument();
  }

  #reportJunk(warning: LinkAction | null): void {
    if (warning !== null) this.#events.push({ is: "junk", warning });
  }

  #giveUp(reason: string): void {
    this.#beginDocument();
    this.#state = "hopeless";
    this.#events.push({ is: "hopeless", reason });
  }
}

/** Returns whether a byte between documents is insignificant. */
function isBlank(byte: number): boolean {
  return isSpace(byte) || BYTE_ORDER_MARKS.includes(byte);
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}
