// Byte helpers of the DICOM codecs.

const LATIN1 = new TextDecoder("latin1");

export function latin1(bytes: Uint8Array): string {
  return LATIN1.decode(bytes);
}

/** Reads a UID without its padding: NUL by the standard, blanks by some devices. */
export function readUid(bytes: Uint8Array): string {
  return latin1(bytes).replace(/[\0 ]+$/, "");
}

export function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Encodes a text in even length (PS3.5 §6.2), padded with `pad`. */
export function evenText(text: string, pad: " " | "\0"): Uint8Array {
  return ascii(text.length % 2 === 0 ? text : text + pad);
}

/** Formats a number in hexadecimal as in a tag, with leading zeros. */
export function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, "0");
}
