// Texts of Fujifilm's analyzers in their documented layouts, with invented data.

interface Head {
  readonly type?: string;
  readonly condition?: string;
  readonly date?: string;
  readonly number?: string;
  readonly id?: string;
  readonly name?: string;
  readonly species?: string;
  readonly sex?: string;
  readonly count?: number;
  /** Operator, emergency and analyzer of types A and B. */
  readonly more?: readonly string[];
}

/** Encodes an R or T record. */
export function fujiRecord(tests: readonly string[], head: Head = {}): string {
  const { type = "R", condition = "NORMAL", date = "21-11-2026", number = "7", id = "4711", name = "Zeytin" } = head;
  const { species = "14", sex = "9", count = tests.length, more = [] } = head;
  const texts = [number, id, name].map((text) => text.padEnd(13));
  const rest = [species.padEnd(2), sex, "999", "01", String(count).padEnd(2), ...more];
  return [type, condition.padEnd(7), date, "11:30", ...texts, ...rest, ...tests].join(",");
}

interface Test {
  readonly sign?: string;
  readonly range?: readonly [string, string];
  /** Mark by place from 1. */
  readonly marks?: Readonly<Record<number, string>>;
}

function marksText(marks: Readonly<Record<number, string>> = {}): string {
  return Array.from({ length: 11 }, (_, index) => marks[index + 1] ?? " ").join("");
}

/** Encodes the seven columns of a test. */
export function fujiTest(
  name: string,
  value: string,
  unit: string,
  { sign = "=", range = ["", ""], marks }: Test = {},
) {
  const bounds = range.map((bound) => bound.padEnd(5));
  return [name.padEnd(8), sign, value.padEnd(9) + unit.padEnd(6), "01", ...bounds, marksText(marks)].join(",");
}
