import type { DeviceResult } from "../../report/report.ts";
import type { TextProfile, TextReading } from "../../protocols/text/profile.ts";

/**
 * Mindray BC-2800Vet, hematology, serial: a body of fixed width without decimal points. Source: a capture of a dog with its
 * print-out, and the manual, corrected by the 10 additional characters of the capture. Unverified: the other two layouts, QC
 * lengths, and the device's reaction to NAK. With the handshake, a damaged body is sent again.
 */
export const mindrayBc2800Vet: TextProfile = {
  id: "mindray-bc2800vet",
  protocol: "text",
  link: { kind: "enq-etx", bodyProblem },
  serial: { dataBits: 7, parity: "none", stopBits: 1 },
  device_name: "Mindray BC-2800Vet",
  modality: "HEMATOLOGY",
  read,
};

/** The same device without handshake: a damaged body is quarantined. */
export const mindrayBc2800VetOneWay: TextProfile = {
  ...mindrayBc2800Vet,
  id: "mindray-bc2800vet-one-way",
  link: { kind: "one-way", end: "SUB" },
};

/** Name, digits, digits after the implied point, unit. */
type Column = readonly [name: string, digits: number, decimals: number, unit: string];

const DIFFERENTIAL: readonly Column[] = [
  ["LYM#", 4, 1, "10^9/L"],
  ["MID#", 4, 1, "10^9/L"],
  ["GRAN#", 4, 1, "10^9/L"],
  ["LYM%", 3, 1, "%"],
  ["MID%", 3, 1, "%"],
  ["GRAN%", 3, 1, "%"],
];
const RED_CELLS: readonly Column[] = [
  ["RBC", 4, 2, "10^12/L"],
  ["HGB", 3, 0, "g/L"],
  ["MCHC", 4, 0, "g/L"],
  ["MCV", 4, 1, "fL"],
  ["MCH", 4, 1, "pg"],
  ["RDW", 3, 1, "%"],
  ["HCT", 3, 1, "%"],
];
const PLATELETS: readonly Column[] = [
  ["PLT", 4, 0, "10^9/L"],
  ["MPV", 3, 1, "fL"],
  ["PDW", 3, 1, ""],
  ["PCT", 3, 3, "%"],
];
const WBC: Column = ["WBC", 4, 1, "10^9/L"];

/** Identifier 1, sample id 8, mode 1, month 2, day 2, year 4, hour 2, minute 2; the results follow. */
const HEAD = /^A([\d*]{8})[\d*](\d\d)(\d\d)(20\d\d)(\d\d)(\d\d)/;
const RESULTS_AT = 22;

interface Layout {
  /** Characters of the complete body, including 2304 of histograms. */
  readonly length: number;
  /** Offset and digits of the species code. */
  readonly speciesAt: number;
  readonly speciesDigits: number;
  readonly species: Readonly<Record<string, string>>;
  /** A number is a count of characters to skip. */
  readonly columns: readonly (Column | number)[];
}

const LAYOUTS: readonly Layout[] = [
  {
    length: 2453,
    speciesAt: 106,
    speciesDigits: 2,
    species: { "00": "Dog", "01": "Cat", "02": "Horse" },
    columns: [WBC, ...DIFFERENTIAL, ...RED_CELLS, ...PLATELETS],
  },
  {
    length: 2453,
    speciesAt: 106,
    speciesDigits: 2,
    // The clinic defines 7 to 10; the device does not send their species.
    species: { "03": "Pig", "04": "Cattle", "05": "Buffalo", "07": "", "08": "", "09": "", "10": "" },
    columns: [WBC, 21, ...RED_CELLS, ...PLATELETS],
  },
  {
    length: 2456,
    speciesAt: 110,
    speciesDigits: 1,
    species: { "6": "Goat" },
    columns: [WBC, 21, ...RED_CELLS],
  },
];

const LENGTH_MAX = 2456;
/** Min length of a QC body. The manual leaves its exact length open. */
const QC_LENGTH_MIN = 13;

/** Values that the device computes from others of the same body: the only check that no column has moved. */
const COMPUTED: readonly (readonly [result: string, from: readonly string[], by: (...values: number[]) => number])[] = [
  ["WBC", ["LYM#", "MID#", "GRAN#"], (lymphocytes = 0, mid = 0, granulocytes = 0) => lymphocytes + mid + granulocytes],
  ["LYM#", ["WBC", "LYM%"], (total = 0, percent = 0) => (total * percent) / 100],
  ["MID#", ["WBC", "MID%"], (total = 0, percent = 0) => (total * percent) / 100],
  ["GRAN#", ["WBC", "GRAN%"], (total = 0, percent = 0) => (total * percent) / 100],
  ["HCT", ["RBC", "MCV"], (cells = 0, volume = 0) => (cells * volume) / 10],
  ["MCH", ["HGB", "RBC"], (hemoglobin = 0, cells = 0) => hemoglobin / cells],
  ["MCHC", ["HGB", "HCT"], (hemoglobin = 0, hematocrit = 0) => (hemoglobin / hematocrit) * 100],
  ["PCT", ["PLT", "MPV"], (platelets = 0, volume = 0) => (platelets * volume) / 10_000],
];

/** Returns why the device has to send the body again; null for a complete one. */
function bodyProblem(body: Uint8Array): string | null {
  return damage(String.fromCharCode(...body.subarray(0, LENGTH_MAX + 1)), body.length);
}

/** Returns evidence of lost or changed characters; null without any. */
function damage(body: string, length = body.length): string | null {
  if (!/^[ABC][\d*B][\d*]*$/.test(body)) return "a body with other characters than digits and *";
  if (!body.startsWith("A")) return length < QC_LENGTH_MIN ? `a QC body of ${length} characters` : null;
  if (!LAYOUTS.some((layout) => layout.length === length)) {
    return `a body of ${length} characters, expected ${[...new Set(LAYOUTS.map((layout) => layout.length))].join(" or ")}`;
  }
  const layout = layoutOf(body);
  if (layout === undefined) return null;
  const columns = readColumns(body, layout);
  const mixed = columns.find(({ digits }) => !/^(\d+|\*+)$/.test(digits));
  if (mixed !== undefined) return `${mixed.name} is "${mixed.digits}", expected digits or *`;
  const moved = COMPUTED.find((relation) => !holds(relation, columns));
  return moved === undefined
    ? null
    : `${moved[0]} does not follow from ${moved[1].join(" and ")}: the columns have moved`;
}

function read(body: string): TextReading {
  if (/^[BC]/.test(body)) return { is: "not-for-patients", reason: `quality control (identifier ${body[0]})` };
  const damaged = damage(body);
  if (damaged !== null) return { is: "problem", reason: damaged };
  const [whole, sample = "", month, day, year, hour, minute] = HEAD.exec(body) ?? [];
  if (whole === undefined) {
    return {
      is: "problem",
      reason: `the body starts with ${JSON.stringify(body.slice(0, RESULTS_AT))}, expected A, id, mode and time`,
    };
  }
  const layout = layoutOf(body);
  if (layout === undefined) return { is: "problem", reason: "the species code is not known, so neither is the layout" };
  // The sample id may be a counter. It keeps its leading zeros, so that it does not look like a card number.
  const identifier = sample.includes("*") ? "" : sample;
  const results = readColumns(body, layout).map(
    ({ name, digits, value, decimals, unit }): DeviceResult => ({
      names: [name],
      value: Number.isNaN(value) ? digits : value.toFixed(decimals),
      unit,
      range: "",
      flag: "",
      notFinal: null,
    }),
  );
  return {
    is: "sample",
    sample: {
      identifier,
      name: "",
      species: layout.species[speciesCode(body, layout)] ?? "",
      specimen: identifier,
      measuredAt: `${year}${month}${day}${hour}${minute}`,
      results,
    },
  };
}

function layoutOf(body: string): Layout | undefined {
  return LAYOUTS.find(
    (layout) => layout.length === body.length && layout.species[speciesCode(body, layout)] !== undefined,
  );
}

function speciesCode(body: string, { speciesAt, speciesDigits }: Layout): string {
  return body.slice(speciesAt, speciesAt + speciesDigits);
}

interface ReadColumn {
  readonly name: string;
  readonly unit: string;
  /** The digits as sent. */
  readonly digits: string;
  /** NaN if the device has none. */
  readonly value: number;
  readonly decimals: number;
}

function readColumns(body: string, { columns }: Layout): ReadColumn[] {
  const found: ReadColumn[] = [];
  let at = RESULTS_AT;
  for (const column of columns) {
    if (typeof column === "number") {
      at += column;
      continue;
    }
    const [name, width, decimals, unit] = column;
    const digits = body.slice(at, at + width);
    found.push({ name, unit, digits, value: Number(digits) / 10 ** decimals, decimals });
    at += width;
  }
  return found;
}

/**
 * Compares a computed value. Each value may differ by its last digit, because the device computes before rounding. A
 * missing value passes.
 */
function holds([name, from, by]: (typeof COMPUTED)[number], columns: readonly ReadColumn[]): boolean {
  const [result, ...others] = [name, ...from].map((wanted) => columns.find((column) => column.name === wanted));
  const spans = others.map((column) => span(column));
  const corners = spans.reduce<number[][]>(
    (combined, ends) => combined.flatMap((values) => ends.map((end) => [...values, end])),
    [[]],
  );
  const computed = corners.map((values) => by(...values));
  const [low, high] = span(result);
  if ([low, high, ...computed].some(Number.isNaN)) return true;
  return high >= Math.min(...computed) && low <= Math.max(...computed);
}

function span(column: ReadColumn | undefined): [number, number] {
  if (column === undefined) return [Number.NaN, Number.NaN];
  const step = 10 ** -column.decimals;
  return [Math.max(0, column.value - step), column.value + step];
}
