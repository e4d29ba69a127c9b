import type { DeviceResult } from "../../report/report.ts";
import type { TextProfile, TextReading } from "../../protocols/text/profile.ts";

/**
 * DIRUI H-100, urine strips, serial, one-way, without checksum. Source: the parser of another program alone. Unverified: all of it,
 * above all the line with the date, and the place of the mark for abnormal.
 */
export const diruiH100: TextProfile = {
  id: "dirui-h100",
  protocol: "text",
  link: { kind: "one-way", end: "ETX" },
  device_name: "DIRUI H-100",
  modality: "URINALYSIS",
  read,
};

/** `No. 0070`: a counter of the device, which may start again. */
const COUNTER = /^No\. *(\w*)$/i;
const ID = /^ID *: *(.*)$/i;
const TIME = /(?:^|\D)(20\d\d)[-/.](\d\d?)[-/.](\d\d?)[ T]+(\d\d?):(\d\d)(?:\D|$)/;
/** Mark for abnormal, name, word, and for some an amount with its unit: `UBG  Normal  3.2umol/L`, `*PRO  1+  0.3g/L`, `pH  6.5`. */
const RESULT =
  /^(\*?) *([A-Z]{2,4}) +(?:(\*) *)?([-+±]+|[-+]?\d\+?|[A-Z]+\.?|[<>]?=?\d+(?:\.\d+)?)(?: +((?:[<>]=? *|= *)?\d+(?:\.\d+)?) *([A-Zµ%][A-Z\dµ%/.]*))?$/i;
/** Further lines of the head, such as `Color: Yellow`. */
const REMARK = /^[A-Z][A-Z ]*[:.]/i;

function read(text: string): TextReading {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const results: DeviceResult[] = [];
  const comments: string[] = [];
  let [identifier, counter, measuredAt] = ["", "", ""];
  for (const line of lines) {
    const time = TIME.exec(line);
    const result = RESULT.exec(line);
    if (ID.test(line)) {
      identifier = ID.exec(line)?.[1]?.trim() ?? "";
    } else if (COUNTER.test(line)) {
      counter = COUNTER.exec(line)?.[1] ?? "";
    } else if (time !== null) {
      measuredAt = time
        .slice(1)
        .map((digits) => digits.padStart(2, "0"))
        .join("");
    } else if (result !== null) {
      const [, before, name = "", within, word = "", amount = "", unit = ""] = result;
      results.push(resultOf(name, word, before || within || ""));
      if (amount !== "") comments.push(`${name} ${word}: ${amount} ${unit}`);
    } else if (REMARK.test(line)) {
      comments.push(line);
    } else {
      return {
        is: "problem",
        reason: `a line is ${JSON.stringify(line.slice(0, 40))}, expected a result, No., ID or a date`,
      };
    }
  }
  if (results.length === 0) return { is: "problem", reason: "the text has no result" };
  // Without a time the counter names no sample: it may be of another day.
  const specimen = measuredAt === "" ? "" : counter;
  const sample = { identifier, name: "", species: "", specimen, measuredAt, results, urine: true, comments };
  return { is: "sample", sample };
}

/** `-` is negative on a strip. */
function resultOf(name: string, word: string, flag: string): DeviceResult {
  return { names: [name], value: word === "-" ? "neg" : word, unit: "", range: "", flag, notFinal: null };
}
