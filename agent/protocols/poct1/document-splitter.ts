import { CR, ETX, FS, LF, NUL, TAB, VT, withCapacity } from "../bytes.ts";
import type { LinkAction } from "../link.ts";
import { Noise } from "../noise.ts";

// Splits a POCT1-A stream into XML documents by the depth of their tags. POCT1-A has no framing: documents follow each
// other, cut anywhere by TCP. A search for the root's end tag fails, because comments, CDATA and attributes may hold
// one, and the root may nest. Every decision depends on the current byte and the state, so any segmentation of the
// stream gives the same result. Validity is checked later.

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
   * A whole document. `problem`: the limit that it exceeds, null if none; only the start of a long document is kept.
   */
  | { readonly is: "document"; readonly bytes: Uint8Array; readonly problem: string | null }
  /** A document cut short by the next one or by the end of the connection. It must not be parsed. */
  | { readonly is: "truncated"; readonly bytes: Uint8Array; readonly by: string }
  /** A run of bytes outside documents. */
  | { readonly is: "junk"; readonly warning: LinkAction }
  /** The rest of the stream is unreadable. */
  | { readonly is: "hopeless"; readonly reason: string };

const SPACE = 0x20;
const BANG = 0x21;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;
const DASH = 0x2d;
const SLASH = 0x2f;
const LESS = 0x3c;
const GREATER = 0x3e;
const QUESTION = 0x3f;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const BYTE_ORDER_MARKS = [0xef, 0xbb, 0xbf, 0xfe, 0xff];

type State =
  /** Outside the root element: before a document, or in its prolog. */
  | "outside"
  /** Text in an element. */
  | "content"
  | "markup"
  | "start-tag"
  | "end-tag"
  | "instruction"
  /** Behind `<!`: comment, CDATA or declaration. */
  | "bang"
  | "comment"
  | "cdata"
  /** `<!DOCTYPE` and its nested declarations. */
  | "declaration"
  /** Bytes are missing: skips to the certain start of a document. */
  | "lost"
  | "hopeless";

const NOTHING: readonly SplitterEvent[] = [];
const DECLARATION_BEGINS = [LESS, QUESTION, 0x78, 0x6d, 0x6c];
/** Start of a document behind a gap. */
const BEGINNING = /^<(?:\?xml|[A-Z]+\.R\d\d)[\s/>]$/;
const BEGINNING_BYTES_MAX = 16;
/** 1 for bytes that may change the state within a document. */
const DECIDES = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= FS || [DOUBLE_QUOTE, SINGLE_QUOTE, LESS, GREATER].includes(byte) ? 1 : 0,
);

export class DocumentSplitter {
  #state: State = "outside";
  /** null until the first document or frame. */
  #framing: Framing | null = null;

  /** Kept bytes of the document, and its total length. */
  #document = new Uint8Array(4096);
  #length = 0;
  #size = 0;
  #problem: string | null = null;
  #depth = 0;
  #hasRoot = false;
  /** The last byte of the document was received. */
  #ended = false;

  /** Offset of the `<` of the current markup. */
  #markupAt = 0;
  /** The last byte of the document, and the one before it. */
  #previous = 0;
  #beforePrevious = 0;
  /** The open quote in a tag or declaration; 0 if none. */
  #quote = 0;
  /** Number of `<` without their `>` in a declaration. */
  #nesting = 0;
  /** Number of bytes of `<?xml` that end here. */
  #declared = 0;

  readonly #junk = new Noise("outside documents");
  #found: SplitterEvent[] = [];

  /** Framing of the device, also for replies. */
  get framing(): Framing {
    return this.#framing ?? "none";
  }

  /** No document has begun. */
  get isBetweenDocuments(): boolean {
    return this.#state === "outside" && this.#size === 0;
  }

  /** The unfinished document. */
  get partial(): Uint8Array {
    return this.#document.slice(0, this.#length);
  }

  receive(chunk: Uint8Array): readonly SplitterEvent[] {
    let at = 0;
    while (at < chunk.length) {
      at = this.#keepPlain(chunk, at);
      if (at < chunk.length) this.#step(chunk[at++]!);
    }
    return this.#take();
  }

  /** Drops the document with the missing bytes. */
  gap(): void {
    this.#beginDocument();
    this.#state = "lost";
    this.#junk.end();
  }

  close(): readonly SplitterEvent[] {
    if (this.#state !== "lost" && this.#state !== "hopeless") this.#cutShort("the end of the connection");
    this.#tellJunk();
    return this.#take();
  }

  #take(): readonly SplitterEvent[] {
    if (this.#found.length === 0) return NOTHING;
    const found = this.#found;
    this.#found = [];
    return found;
  }

  /** Keeps bytes that change no state, as most within a document. @returns the offset behind them */
  #keepPlain(chunk: Uint8Array, from: number): number {
    if (DECIDES[chunk[from]!] === 1 || this.#declared > 0 || !this.#takesPlain()) return from;
    const end = Math.min(chunk.length, from + Math.max(0, DOCUMENT_BYTES_MAX - this.#size));
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
    this.#size += at - from;
    this.#beforePrevious = at - from > 1 ? chunk[at - 2]! : this.#previous;
    this.#previous = chunk[at - 1]!;
    return at;
  }

  #takesPlain(): boolean {
    switch (this.#state) {
      case "outside":
      case "markup":
      case "bang":
      case "lost":
      case "hopeless":
        return false;
      default:
        return true;
    }
  }

  #step(byte: number): void {
    if (byte <= FS && this.#isForeign(byte)) return;
    switch (this.#state) {
      case "outside":
        if (byte !== LESS) {
          if (!isBlank(byte)) this.#sayJunk(this.#junk.add(byte));
          return;
        }
        this.#framing ??= "none";
        this.#beginMarkup();
        break;
      case "content":
        if (byte === LESS) this.#beginMarkup();
        break;
      case "markup":
        this.#chooseMarkup(byte);
        break;
      case "start-tag":
        if (this.#quote === 0 && byte === GREATER) this.#endStartTag();
        else this.#trackQuote(byte);
        break;
      case "end-tag":
        if (byte === GREATER) this.#endEndTag();
        break;
      case "instruction":
        if (byte === GREATER && this.#previous === QUESTION && this.#markupBytes > 2) this.#endMarkup();
        break;
      case "bang":
        this.#stepBang(byte);
        break;
      case "comment":
        // The dashes of `<!--` do not count for `-->`.
        if (byte === GREATER && this.#endsWithTwo(DASH) && this.#markupBytes > 5) this.#endMarkup();
        break;
      case "cdata":
        if (byte === GREATER && this.#endsWithTwo(BRACKET_CLOSE)) this.#endMarkup();
        break;
      case "declaration":
        this.#stepDeclaration(byte);
        break;
      case "lost":
        this.#stepLost(byte);
        return;
      case "hopeless":
        return;
    }
    this.#put(byte);
    if (this.#ended) this.#endDocument();
  }

  /** Handles control characters that XML does not allow but devices send. */
  #isForeign(byte: number): boolean {
    switch (byte) {
      case NUL:
        // `<` and NUL are one character in UTF-16, in either byte order. Elsewhere NUL is padding, even within a
        // document.
        if (this.#state === "markup") this.#giveUp("the stream is UTF-16, expected UTF-8");
        return true;
      case ETX:
        return true;
      case VT:
      case FS:
        this.#frameBorder(byte);
        return true;
      default:
        return false;
    }
  }

  /** Handles the start or end of an MLLP frame. No document crosses it. */
  #frameBorder(byte: number): void {
    if (this.#state === "hopeless") return;
    if (this.#state === "lost") this.#state = "outside";
    if (byte === VT) this.#framing ??= "mllp";
    this.#cutShort(byte === VT ? "the begin of an MLLP frame" : "the end of its MLLP frame");
  }

  #beginMarkup(): void {
    this.#state = "markup";
    this.#markupAt = this.#size;
  }

  get #markupBytes(): number {
    return this.#size - this.#markupAt;
  }

  #chooseMarkup(byte: number): void {
    switch (byte) {
      case SLASH:
        this.#state = "end-tag";
        break;
      case QUESTION:
        this.#state = "instruction";
        break;
      case BANG:
        this.#state = "bang";
        break;
      default:
        this.#state = "start-tag";
        this.#quote = 0;
        this.#tellJunk();
        this.#hasRoot = true;
        if (byte === GREATER) this.#endStartTag();
    }
  }

  #trackQuote(byte: number): void {
    if (this.#quote !== 0) {
      if (byte === this.#quote) this.#quote = 0;
    } else if (byte === DOUBLE_QUOTE || byte === SINGLE_QUOTE) {
      this.#quote = byte;
    }
  }

  #endStartTag(): void {
    if (this.#previous !== SLASH) this.#depth += 1;
    if (this.#depth > DEPTH_MAX) this.#problem ??= `elements nested more than ${DEPTH_MAX} deep`;
    this.#endTag();
  }

  #endEndTag(): void {
    this.#depth -= 1;
    this.#endTag();
  }

  #endTag(): void {
    this.#state = "content";
    this.#ended = this.#depth <= 0;
  }

  #endMarkup(): void {
    this.#state = this.#depth === 0 ? "outside" : "content";
  }

  #stepBang(byte: number): void {
    if (this.#markupBytes === 2 && byte === DASH) return;
    if (this.#markupBytes === 3 && byte === DASH) {
      this.#state = "comment";
    } else if (this.#markupBytes === 2 && byte === BRACKET_OPEN) {
      this.#state = "cdata";
    } else {
      // The parser refuses DOCTYPE; the splitter only finds its end.
      this.#state = "declaration";
      this.#quote = 0;
      this.#nesting = 1;
      this.#stepDeclaration(byte);
    }
  }

  #stepDeclaration(byte: number): void {
    if (this.#quote === 0 && byte === LESS) this.#nesting += 1;
    else if (this.#quote === 0 && byte === GREATER) this.#nesting -= 1;
    else this.#trackQuote(byte);
    if (this.#nesting === 0) this.#endMarkup();
  }

  #endsWithTwo(byte: number): boolean {
    return this.#previous === byte && this.#beforePrevious === byte;
  }

  /** Appends a byte. A document beyond the max length is still followed to its end, to find the next one. */
  #put(byte: number): void {
    if (this.#length < DOCUMENT_BYTES_MAX) {
      this.#document = withCapacity(this.#document, this.#length + 1);
      this.#document[this.#length++] = byte;
    }
    this.#size += 1;
    this.#beforePrevious = this.#previous;
    this.#previous = byte;
    if (this.#size > DOCUMENT_BYTES_MAX) this.#overrun();
    if (byte === LESS || this.#declared > 0) this.#seekDeclaration(byte);
  }

  #overrun(): void {
    this.#problem ??= `document of more than ${DOCUMENT_BYTES_MAX} bytes`;
    if (this.#size < UNENDED_BYTES_MAX) return;
    this.#endDocument();
    this.#giveUp(`no end of the document within ${UNENDED_BYTES_MAX} bytes`);
  }

  /**
   * Starts a document at `<?xml `, even within another one: the device was restarted. Comments and CDATA are exempt;
   * attributes are not, because XML allows no `<` there.
   */
  #seekDeclaration(byte: number): void {
    if (this.#state === "comment" || this.#state === "cdata") {
      this.#declared = 0;
    } else if (this.#declared === DECLARATION_BEGINS.length && isSpace(byte)) {
      this.#declared = 0;
      const beginBytes = DECLARATION_BEGINS.length + 1;
      if (this.#size === beginBytes) return;
      this.#length = Math.min(this.#length, this.#size - beginBytes);
      this.#cutShort("the next document");
      this.#begin([...DECLARATION_BEGINS, byte]);
    } else if (byte === DECLARATION_BEGINS[this.#declared]) {
      this.#declared += 1;
    } else {
      this.#declared = byte === LESS ? 1 : 0;
    }
  }

  /** Skips to the certain start of a document behind a gap. */
  #stepLost(byte: number): void {
    if (byte === LESS) this.#length = 0;
    else if (this.#length === 0 || this.#length === BEGINNING_BYTES_MAX) return;
    this.#document[this.#length++] = byte;
    const end = isSpace(byte) || byte === SLASH || byte === GREATER;
    if (!end) return;
    const bytes = this.#document.slice(0, this.#length);
    this.#length = 0;
    if (BEGINNING.test(String.fromCharCode(...bytes))) this.#begin(bytes);
  }

  #begin(bytes: Iterable<number>): void {
    this.#beginDocument();
    for (const byte of bytes) this.#step(byte);
  }

  #beginDocument(): void {
    this.#state = "outside";
    this.#length = 0;
    this.#size = 0;
    this.#problem = null;
    this.#depth = 0;
    this.#hasRoot = false;
    this.#ended = false;
    this.#declared = 0;
  }

  #endDocument(): void {
    if (this.#hasRoot) {
      this.#found.push({ is: "document", bytes: this.partial, problem: this.#problem });
    } else {
      for (const byte of this.partial) this.#sayJunk(this.#junk.add(byte)); // an end tag without its start
    }
    this.#beginDocument();
  }

  #cutShort(by: string): void {
    // A prolog alone is dropped.
    if (this.#hasRoot) this.#found.push({ is: "truncated", bytes: this.partial, by });
    this.#beginDocument();
  }

  #tellJunk(): void {
    this.#sayJunk(this.#junk.end());
  }

  #sayJunk(warning: LinkAction | null): void {
    if (warning !== null) this.#found.push({ is: "junk", warning });
  }

  #giveUp(reason: string): void {
    this.#beginDocument();
    this.#state = "hopeless";
    this.#found.push({ is: "hopeless", reason });
  }
}

/** Returns whether a byte between documents is insignificant. */
function isBlank(byte: number): boolean {
  return isSpace(byte) || BYTE_ORDER_MARKS.includes(byte);
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}
