// A unit as people write it. The API and the database keep the code of the catalogue, and a device's own spelling.

/** Codes of quantities without a unit, and of units with a sign of their own. */
const WHOLE: ReadonlyMap<string, string> = new Map([
  ["1", ""],
  ["[pH]", ""],
  ["deg", "°"],
  ["Cel", "°C"],
  ["[degF]", "°F"],
]);

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Texts of the units that were asked for: a history asks for few units, thousands of times. Devices may send any text as a unit. */
const texts = new Map<string, string>();
const TEXTS_MAX = 1000;

/** Returns a unit as people write it: ×10⁹/L, µmol/L, mmHg, °. The text of a ratio and of a pH is empty. */
export function unitText(unit: string): string {
  const known = texts.get(unit);
  if (known !== undefined) return known;
  if (texts.size >= TEXTS_MAX) texts.clear();
  const text = textOf(unit);
  texts.set(unit, text);
  return text;
}

function textOf(unit: string): string {
  return (
    WHOLE.get(unit) ??
    unit
      .replace(/\{[^}]*\}/g, "")
      .replace(/[[\]]/g, "")
      .replace(/^[x×]?10[*^](\d+)/, (_, power: string) => `×10${raised(power)}`)
      .replace(/(^|[/.])(mm|cm|dm|m|s)([23])(?=$|[/.])/g, (_, before, name, power) => before + name + raised(power))
      .replace(/(^|\/)u(?=IU|U|g|mol|L|l|kat|m)/g, "$1µ")
      .replaceAll("*", "·")
  );
}

function raised(digits: string): string {
  return Array.from(digits, (digit) => SUPERSCRIPTS[Number(digit)]).join("");
}
