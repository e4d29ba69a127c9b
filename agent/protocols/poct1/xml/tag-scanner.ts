/** Position in a document. */
type ScannerState =
  /** Outside the root element: before it, or in the prolog. */
  | "outside"
  /** Text in an element. */
  | "content"
  /** After `<`. */
  | "markup"
  | "start-tag"
  | "end-tag"
  | "instruction"
  /** After `<!`: comment, CDATA or declaration. */
  | "bang"
  | "comment"
  | "cdata"
  /** `<!DOCTYPE` and its nested declarations. */
  | "declaration";

export const LESS = 0x3c;
export const GREATER = 0x3e;
export const SLASH = 0x2f;
export const QUESTION = 0x3f;
const BANG = 0x21;
const DASH = 0x2d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

/** Returns whether the byte may change the state within a document. */
export function isMarkupByte(byte: number): boolean {
  return byte === LESS || byte === GREATER || byte === DOUBLE_QUOTE || byte === SINGLE_QUOTE;
}

/** Follows the tags of one XML document, byte by byte, up to the end of its root. Validity is checked by the parser. */
export class TagScanner {
  #state: ScannerState = "outside";
  /** Bytes of the document. */
  size = 0;
  /** Open elements. */
  depth = 0;
  /** Within a start tag. */
  hasRoot = false;
  /** The last byte of the document was read. */
  isEnded = false;

  /** Offset of the `<` of the current markup. */
  #markupAt = 0;
  /** The last byte of the document, and the one before it. */
  #previous = 0;
  #beforePrevious = 0;
  /** The open quote in a tag or declaration; 0 if none. */
  #quote = 0;
  /** Number of `<` without their `>` in a declaration. */
  #nesting = 0;

  get isOutside(): boolean {
    return this.#state === "outside";
  }

  /** The last byte was `<`. */
  get isBehindLess(): boolean {
    return this.#state === "markup";
  }

  /** Text that may hold anything but its own end. */
  get isCommentOrCdata(): boolean {
    return this.#state === "comment" || this.#state === "cdata";
  }

  /** Only markup bytes change the state. */
  get skipsPlain(): boolean {
    return this.#state !== "outside" && this.#state !== "markup" && this.#state !== "bang";
  }

  /** Starts at the next document. */
  reset(): void {
    this.#state = "outside";
    this.size = 0;
    this.depth = 0;
    this.hasRoot = false;
    this.isEnded = false;
  }

  /** Reads the bytes of a chunk between two offsets, which change no state. */
  skip(chunk: Uint8Array, from: number, to: number): void {
    this.size += to - from;
    this.#beforePrevious = to - from > 1 ? chunk[to - 2]! : this.#previous;
    this.#previous = chunk[to - 1]!;
  }

  read(byte: number): void {
    this.#step(byte);
    this.size += 1;
    this.#beforePrevious = this.#previous;
    this.#previous = byte;
  }

  #step(byte: number): void {
    switch (this.#state) {
      case "outside":
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
        if (byte === GREATER) this.#endTag(this.depth - 1);
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
    }
  }

  #beginMarkup(): void {
    this.#state = "markup";
    this.#markupAt = this.size;
  }

  /** Bytes of the markup before the current one. */
  get #markupBytes(): number {
    return this.size - this.#markupAt;
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
        this.hasRoot = true;
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
    this.#endTag(this.#previous === SLASH ? this.depth : this.depth + 1);
  }

  #endTag(depth: number): void {
    this.depth = depth;
    this.#state = "content";
    this.isEnded = depth <= 0;
  }

  #endMarkup(): void {
    this.#state = this.depth === 0 ? "outside" : "content";
  }

  #stepBang(byte: number): void {
    if (this.#markupBytes === 2 && byte === DASH) return;
    if (this.#markupBytes === 3 && byte === DASH) {
      this.#state = "comment";
    } else if (this.#markupBytes === 2 && byte === BRACKET_OPEN) {
      this.#state = "cdata";
    } else {
      // The parser refuses DOCTYPE; the scanner only finds its end.
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
}
