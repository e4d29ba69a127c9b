import type { TextOrder, TextOrderQuery, TextOrders } from "../../protocols/text/orders.ts";

// Order queries of Fujifilm's analyzers (types 1 and A). The chemistry queries the list of samples (I), then the tests of one (W).
// The immunoassay queries both together (X, and Y with the kind of each interval).

/** Max tests of one sample in a reply to W, to X and Y. */
const TESTS_MAX = { W: 30, X: 5, Y: 5 } as const;
/** Max samples of a list. */
const SAMPLES_MAX = 99;
const ETB = "\x17";

export const fujiOrders: TextOrders = {
  tests: { example: "the device's names such as GLU,GPT or v-T4", pattern: /^[\w/-]{1,8}$/ },
  readQuery,
  encodeReply,
};

function readQuery(text: string): TextOrderQuery | null {
  const [type = "", ...columns] = text.split(",").map((column) => column.trim());
  switch (type) {
    case "I": {
      const [specimen = "", count = ""] = columns;
      return { type, specimen, patient: "", max: maxOf(count), withTests: false };
    }
    case "W": {
      const [specimen = ""] = columns;
      // Without a number the query names no sample, and the reply has no tests.
      return { type, specimen, patient: "", max: specimen === "" ? 0 : 1, withTests: true };
    }
    case "X":
    case "Y": {
      const [specimen = "", patient = "", , count = ""] = columns;
      return { type, specimen, patient, max: maxOf(count), withTests: true };
    }
    default:
      return null;
  }
}

function maxOf(count: string): number {
  return /^\d{1,2}$/.test(count) ? Number(count) : SAMPLES_MAX;
}

function encodeReply({ type, specimen }: TextOrderQuery, orders: readonly TextOrder[]): string {
  if (type === "W") {
    const [order] = orders;
    const tests = testsOf(order, TESTS_MAX.W);
    const head = [padded(order?.specimen ?? specimen, 13), padded("", 13), padded(order?.name ?? "", 13)];
    return [type, ...head, number(tests.length), ...tests].join(",");
  }
  const listed = orders.length > 0 ? orders : [{ specimen, name: "", sex: null, tests: [] }];
  const samples = listed.map((order) => [...sampleColumns(order), ...itemColumns(type, order)].join(","));
  return `${type},${number(orders.length)},${samples.join(ETB)}`;
}

/** Number, id, name, species, sex and age. Species numbers are the clinic's own, and 999 is an unknown age. */
function sampleColumns({ specimen, name, sex }: TextOrder): string[] {
  const sexes = { M: "0", F: "1" } as const;
  return [
    padded(specimen, 13),
    padded("", 13),
    padded(name, 13),
    padded("", 2),
    sex === null ? "9" : sexes[sex],
    "999",
  ];
}

function itemColumns(type: string, order: TextOrder): string[] {
  if (type !== "X" && type !== "Y") return [];
  const tests = testsOf(order, TESTS_MAX[type]);
  return [number(tests.length), ...tests.flatMap((test) => (type === "Y" ? [test, "0"] : [test]))];
}

function testsOf(order: TextOrder | undefined, max: number): string[] {
  return (order?.tests ?? []).slice(0, max).map((test) => padded(test, 8));
}

/** Pads a text, which must not hold a comma or an @. */
function padded(words: string, width: number): string {
  return words.replace(/[,@]/g, " ").slice(0, width).padEnd(width);
}

function number(count: number): string {
  return String(count).padStart(2, "0");
}
