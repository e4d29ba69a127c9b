// Times as a profile declares them, `dd/MM/yyyy h:mm a`. The order of day and month is never guessed from a file.

/** Each token with its pattern. Two letters of the same kind also read one digit, unless digits follow without a sign between. */
const TOKENS: Readonly<Record<string, string>> = {
  yyyy: "(?<y>\\d{4})",
  yy: "(?<y>\\d{2})",
  MM: "(?<M>\\d{2})",
  M: "(?<M>\\d{1,2})",
  dd: "(?<d>\\d{2})",
  d: "(?<d>\\d{1,2})",
  HH: "(?<H>\\d{2})",
  H: "(?<H>\\d{1,2})",
  hh: "(?<h>\\d{2})",
  h: "(?<h>\\d{1,2})",
  mm: "(?<m>\\d{2})",
  ss: "(?<s>\\d{2})",
  SSS: "\\d{1,3}",
  a: "(?<a>[ap]\\.?\\s?m\\.?|öö|ös)",
};

const TOKEN = /yyyy|yy|MM?|dd?|HH?|hh?|mm|ss|SSS|a|\s+|[^]/g;

/**
 * Makes the reader of a format. It returns `YYYYMMDDHHMMSS`, or `YYYYMMDD` for a format without a clock; null for another text.
 * @throws an Error for a format without year, month and day
 */
export function timeReader(format: string): (text: string) => string | null {
  const source = format.trim().replace(TOKEN, (token) => {
    if (/^\s/.test(token)) return "\\s+";
    return Object.hasOwn(TOKENS, token) ? TOKENS[token]! : literal(token);
  });
  for (const [token, name] of [
    ["yyyy", "y"],
    ["MM", "M"],
    ["dd", "d"],
  ] as const) {
    if (source.split(`(?<${name}>`).length !== 2) throw new Error(`the format ${format} has not one ${token}`);
  }
  const has12Hours = source.includes("(?<h>");
  if (has12Hours !== source.includes("(?<a>")) throw new Error(`the format ${format} has h without a, or a without h`);
  const pattern = new RegExp(`^${source}$`, "iu");
  return (text) => {
    const groups = pattern.exec(text.trim().normalize("NFC"))?.groups;
    if (groups === undefined) return null;
    const { y = "", M = "", d = "", H, h, m = "0", s = "0", a } = groups;
    const year = y.length === 2 ? `20${y}` : y;
    const date = year + two(M) + two(d);
    const hour = H ?? (h === undefined ? undefined : hourOf(h, a ?? ""));
    return hour === undefined ? date : hour === null ? null : date + two(hour) + two(m) + two(s);
  };
}

/** Makes the reader of a format that also reads the date of a spreadsheet's cell, whose parts are known. */
export function cellTimeReader(format: string): (text: string) => string | null {
  const read = timeReader(format);
  return (text) => {
    const [, date = "", clock = ""] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)$/.exec(text) ?? [];
    if (date === "") return read(text);
    return `${date}${clock === "00:00:00" ? "" : clock}`.replace(/[-:]/g, "");
  };
}

/** Returns the part of a format before the clock. */
export function dateFormat(format: string): string {
  return format.replace(/[\sT]*[Hh].*$/, "");
}

function hourOf(hour: string, half: string): string | null {
  const number = Number(hour);
  if (number < 1 || number > 12) return null;
  const isAfternoon = /^(?:p|ös)/iu.test(half);
  return String((number % 12) + (isAfternoon ? 12 : 0));
}

function two(digits: string): string {
  return digits.padStart(2, "0");
}

function literal(character: string): string {
  if (/[\p{L}\p{N}]/u.test(character) && character !== "T")
    throw new Error(`the format has ${character}, which is no part of a time`);
  return character.replace(/[$()*+./?[\\\]^{|}]/u, "\\$&");
}
