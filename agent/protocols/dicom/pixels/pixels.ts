import { binary, type Elements, text, texts } from "../reports/elements.ts";

// Converts the pixels of one frame to a picture: grey through its window, colour as RGB, 8 bits per channel.

/** Pixel encoding of an image (PS3.3 §C.7.6.3), and its conversion to grey (§C.11). */
export interface PixelFormat {
  readonly columns: number;
  readonly rows: number;
  readonly frames: number;
  readonly photometric: string;
  /** True for colour by plane, false for colour by pixel. */
  readonly planar: boolean;
  readonly bitsAllocated: 8 | 16;
  readonly bitsStored: number;
  readonly highBit: number;
  readonly signed: boolean;
  readonly slope: number;
  readonly intercept: number;
  /** Colours of the values (PS3.3 §C.7.6.3.1.5); null for another photometric interpretation. */
  readonly palette: Palette | null;
  /** Window of the values; null without one. */
  readonly window: { readonly center: number; readonly width: number; readonly exact: boolean } | null;
}

interface Palette {
  /** The value of the first colour. Lower values have the first colour, higher ones the last. */
  readonly first: number;
  /** Red, green and blue, 8 bits each. */
  readonly channels: readonly [Uint8Array, Uint8Array, Uint8Array];
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Channels of a pixel: 1 for grey, 3 for RGB. */
  readonly channels: 1 | 3;
  readonly pixels: Uint8Array;
}

const GREY: readonly string[] = ["MONOCHROME1", "MONOCHROME2"];
/** The last two are the colour transforms of JPEG 2000, which its codec undoes. */
const COLOUR: readonly string[] = ["RGB", "YBR_FULL", "YBR_FULL_422", "YBR_RCT", "YBR_ICT"];
const PALETTE = "PALETTE COLOR";
/** Max pixels of a frame; a larger one is not drawn. A mammogram has 20 million. */
const PIXELS_MAX = 64_000_000;

/** Reads the pixel format. @returns a string with the problem of an unsupported one */
export function readPixelFormat(elements: Elements): PixelFormat | string {
  const number = (tag: string, otherwise: number) => {
    const word = text(elements, tag);
    return word === "" || !Number.isFinite(Number(word)) ? otherwise : Number(word);
  };
  const [rows, columns] = [number("00280010", 0), number("00280011", 0)];
  if (!(rows > 0 && columns > 0)) return "no pixels";
  if (rows * columns > PIXELS_MAX) return `${columns} x ${rows} pixels, at most ${PIXELS_MAX} in all`;
  const photometric = text(elements, "00280004");
  const samples = number("00280002", 1);
  const isColour = COLOUR.includes(photometric);
  if (samples !== (isColour ? 3 : 1) || !(isColour || GREY.includes(photometric) || photometric === PALETTE)) {
    return `${photometric || "no photometric interpretation"} with ${samples} samples per pixel is not drawn`;
  }
  const palette = photometric === PALETTE ? readPalette(elements) : null;
  if (typeof palette === "string") return palette;
  const bitsAllocated = number("00280100", 8);
  const bitsStored = number("00280101", bitsAllocated);
  const highBit = number("00280102", bitsStored - 1);
  const fits = bitsStored >= 1 && highBit >= bitsStored - 1 && highBit < bitsAllocated;
  if (!fits || !(bitsAllocated === 8 || (bitsAllocated === 16 && !isColour))) {
    return `bits ${bitsAllocated}, ${bitsStored}, ${highBit} (allocated, stored, high) are not drawn`;
  }
  const width = number("00281051", 0);
  return {
    rows,
    columns,
    photometric,
    bitsAllocated,
    bitsStored,
    highBit,
    frames: Math.max(1, number("00280008", 1)),
    planar: number("00280006", 0) === 1,
    signed: number("00280103", 0) === 1,
    slope: number("00281053", 1),
    intercept: number("00281052", 0),
    palette,
    window:
      width > 0 ? { center: number("00281050", 0), width, exact: text(elements, "00281056") === "LINEAR_EXACT" } : null,
  };
}

/** Reads the three tables of a palette. @returns a string with the problem of an unsupported one */
function readPalette(elements: Elements): Palette | string {
  const [red, green, blue] = ["1", "2", "3"].map((channel) => readColours(elements, channel));
  if (!red || !green || !blue) return "a palette that is segmented or incomplete is not drawn";
  return { first: Number(texts(elements, "00281101")[1] ?? 0), channels: [red, green, blue] };
}

/** Reads one table with 8 or 16 bits a colour. Undefined if it is missing or shorter than its descriptor states. */
function readColours(elements: Elements, channel: string): Uint8Array | undefined {
  const [entries = 0, , bits = 0] = texts(elements, `0028110${channel}`).map(Number);
  const bytes = binary(elements, `0028120${channel}`);
  const count = entries === 0 ? 65_536 : entries;
  if (bits === 16 && bytes.length >= count * 2) return bytes.filter((_, index) => index % 2 === 1).subarray(0, count);
  return bits === 8 && bytes.length >= count ? bytes.subarray(0, count) : undefined;
}

/** Whether a pixel has one sample: a grey value, or a colour of the palette. */
export function isGrey({ photometric }: Pick<PixelFormat, "photometric">): boolean {
  return GREY.includes(photometric) || photometric === PALETTE;
}

/** Returns the number of bytes of an uncompressed frame. */
export function frameLength({ rows, columns, photometric, bitsAllocated }: PixelFormat): number {
  const samples = photometric === "YBR_FULL_422" ? 2 : isGrey({ photometric }) ? 1 : 3;
  return (rows * columns * samples * bitsAllocated) / 8;
}

/** Draws a little endian frame of frameLength() bytes. */
export function drawFrame(bytes: Uint8Array, format: PixelFormat): Picture {
  const { columns: width, rows: height, photometric, palette } = format;
  if (palette !== null) return { width, height, channels: 3, pixels: drawPalette(bytes, format, palette) };
  if (GREY.includes(photometric)) return { width, height, channels: 1, pixels: drawGrey(bytes, format) };
  return { width, height, channels: 3, pixels: drawColour(bytes, format) };
}

function drawGrey(bytes: Uint8Array, format: PixelFormat): Uint8Array {
  const { bitsAllocated, bitsStored, highBit, signed, slope, intercept, photometric } = format;
  const stored = bitsAllocated === 8 ? bytes : words(bytes);
  const shift = highBit - bitsStored + 1;
  const span = 2 ** bitsStored;
  // Unused bits are masked, because they may hold overlays.
  const valueOf = (word: number) => {
    const value = (word >> shift) & (span - 1);
    return (signed && value >= span / 2 ? value - span : value) * slope + intercept;
  };
  let grey: (value: number) => number;
  if (format.window !== null) {
    grey = windowed(format.window);
  } else if (bitsStored <= 8 && slope === 1 && intercept === 0 && !signed) {
    grey = (value) => (value * 255) / (span - 1);
  } else {
    grey = stretched(stored, valueOf);
  }
  const inverted = photometric === "MONOCHROME1"; // the lowest value is white
  // A lookup table of all words pays off, because most images have more pixels.
  const table = Uint8Array.from({ length: 2 ** bitsAllocated }, (_, word) => {
    const shade = clamped(grey(valueOf(word)));
    return inverted ? 255 - shade : shade;
  });
  const pixels = new Uint8Array(stored.length);
  for (let index = 0; index < stored.length; index++) pixels[index] = table[stored[index]!]!;
  return pixels;
}

function drawPalette(bytes: Uint8Array, { bitsAllocated }: PixelFormat, { first, channels }: Palette): Uint8Array {
  const stored = bitsAllocated === 8 ? bytes : words(bytes);
  const pixels = new Uint8Array(stored.length * 3);
  const last = channels[0].length - 1;
  for (let index = 0; index < stored.length; index++) {
    const colour = Math.min(last, Math.max(0, stored[index]! - first));
    for (const [channel, table] of channels.entries()) pixels[index * 3 + channel] = table[colour]!;
  }
  return pixels;
}

function words(bytes: Uint8Array): Uint16Array {
  const found = new Uint16Array(bytes.length >> 1);
  for (let index = 0; index < found.length; index++) found[index] = bytes[2 * index]! + bytes[2 * index + 1]! * 0x100;
  return found;
}

/** Maps values through a window (PS3.3 §C.11.2.1.2.1, the exact one by §C.11.2.1.3.2). */
function windowed({ center, width, exact }: NonNullable<PixelFormat["window"]>): (value: number) => number {
  if (exact) return (value) => ((value - center) / width + 0.5) * 255;
  const middle = center - 0.5;
  const reach = (width - 1) / 2;
  return (value) => {
    if (value <= middle - reach) return 0;
    return value > middle + reach ? 255 : ((value - middle) / (width - 1) + 0.5) * 255;
  };
}

/** Maps the lowest value to 0 and the highest to 255. */
function stretched(stored: Uint8Array | Uint16Array, valueOf: (word: number) => number): (value: number) => number {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const word of stored) {
    const value = valueOf(word);
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return high > low ? (value) => ((value - low) / (high - low)) * 255 : () => 0;
}

function drawColour(bytes: Uint8Array, { columns, rows, photometric, planar }: PixelFormat): Uint8Array {
  const count = columns * rows;
  const pixels = new Uint8Array(count * 3);
  const [step, plane] = planar ? [1, count] : [3, 1];
  const isPaired = photometric === "YBR_FULL_422";
  for (let pixel = 0; pixel < count; pixel++) {
    const pair = (pixel >> 1) * 4; // Y Y Cb Cr: two pixels share Cb and Cr
    const first = bytes[isPaired ? pair + (pixel & 1) : pixel * step]!;
    const second = bytes[isPaired ? pair + 2 : pixel * step + plane]!;
    const third = bytes[isPaired ? pair + 3 : pixel * step + 2 * plane]!;
    if (photometric === "RGB") {
      pixels[pixel * 3] = first;
      pixels[pixel * 3 + 1] = second;
      pixels[pixel * 3 + 2] = third;
    } else {
      const [cb, cr] = [second - 128, third - 128];
      pixels[pixel * 3] = clamped(first + 1.402 * cr); // inverse of PS3.3 §C.7.6.3.1.2
      pixels[pixel * 3 + 1] = clamped(first - 0.344136 * cb - 0.714136 * cr);
      pixels[pixel * 3 + 2] = clamped(first + 1.772 * cb);
    }
  }
  return pixels;
}

function clamped(value: number): number {
  return Math.round(Math.min(255, Math.max(0, value)));
}

/** Scales a picture down to the max side length. Each pixel is the mean of a square. */
export function shrink(picture: Picture, sideMax: number): Picture {
  const { width, height, channels, pixels } = picture;
  const side = Math.ceil(Math.max(width, height) / sideMax);
  if (side <= 1) return picture;
  const [columns, rows] = [Math.ceil(width / side), Math.ceil(height / side)];
  const sums = new Uint32Array(columns * rows * channels);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * channels;
      const to = (Math.floor(y / side) * columns + Math.floor(x / side)) * channels;
      for (let channel = 0; channel < channels; channel++) sums[to + channel]! += pixels[from + channel]!;
    }
  }
  const small = Uint8Array.from(sums, (sum, index) => {
    const [x, y] = [Math.floor(index / channels) % columns, Math.floor(index / channels / columns)];
    const squares = Math.min(side, width - x * side) * Math.min(side, height - y * side);
    return Math.round(sum / squares);
  });
  return { width: columns, height: rows, channels, pixels: small };
}
