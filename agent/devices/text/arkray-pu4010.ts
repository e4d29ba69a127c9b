import type { DeviceResult } from "../../report/report.ts";
import type { TextProfile, TextReading } from "../../protocols/text/profile.ts";

/**
 * Arkray PU-4010, urine strips, serial, one-way, without checksum. Source: the parser of another program alone. Unverified: all of it,
 * above all the serial settings, the columns of an item, the place of a pH without a word, and the last block.
 */
export const arkrayPu4010: TextProfile = {
  id: "arkray-pu4010",
  protocol: "text",
  link: { kind: "one-way", end: "ETX" },
  serial: { baudRate: 2400, dataBits: 7, parity: "even", stopBits: 1 },
  device_name: "Arkray PU-4010",
  modality: "URINALYSIS",
  read,
};

const ETB = "\x17";
/** Model, version, time, number and patient: `VPU-4010  V1.20 B1 D2026/01/15T11:51 N0012 P4711 S1`. */
const HEAD = /^V\S+ +V.* D(\d{4})\/(\d\d)\/(\d\d)T(\d\d):(\d\d)(?::\d\d)? +N(\S*) +P(.*?) +S/;
/** Text after COM. in the last block. */
const COMMENT = /^T.*COM\.(.*)$/;
/** Characters of an item: name, mark for abnormal, word, amount, unit. */
const COLUMNS = [6, 1, 6, 6, 6] as const;
const ITEM_CHARS = 25;

/** Reads a block of the head, blocks of items, and a last block. A port of 8 bits leaves the parity in bit 7. */
function read(text: string): TextReading {
  const blocks = Array.from(text, (char) => String.fromCharCode(char.charCodeAt(0) & 0x7f))
    .join("")
    .replaceAll(/[\r\n]/g, "")
    .split(ETB);
  const [head = "", ...others] = blocks;
  const last = others.pop() ?? "";
  const found = HEAD.exec(head);
  if (found === null) return problem(`the head is ${JSON.stringify(head.slice(0, 60))}, expected V, D, N, P and S`);
  const comment = COMMENT.exec(last);
  if (comment === null) return problem(`the last block is ${JSON.stringify(last.slice(0, 40))}, expected T and COM.`);
  const items = others.flatMap((block) => block.match(/.{1,25}/g) ?? []).map(itemOf);
  const broken = items.find((item) => typeof item === "string");
  if (broken !== undefined) {
    return problem(`an item is ${JSON.stringify(broken)}, expected name, mark, word, amount and unit in ${ITEM_CHARS}`);
  }
  const whole = items.filter((item) => typeof item !== "string");
  if (whole.length === 0) return problem("the text has no result");
  const [, year, month, day, hour, minute, specimen = "", identifier = ""] = found;
  const remark = comment[1]?.trim() ?? "";
  const sample = {
    identifier: identifier.trim(),
    name: "",
    species: "",
    specimen,
    measuredAt: `${year}${month}${day}${hour}${minute}`,
    urine: true,
    results: whole.map(({ result }) => result),
    comments: [...whole.flatMap(({ amount }) => amount), ...(remark === "" ? [] : [remark])],
  };
  return { is: "sample", sample };
}

interface Item {
  readonly result: DeviceResult;
  /** Sentence with the amount that a word represents. */
  readonly amount: readonly string[];
}

/** Reads an item. @returns its text if it is broken: a lost character moves the columns */
function itemOf(text: string): Item | string {
  let at = 0;
  const [name = "", mark = "", word = "", amount = "", unit = ""] = COLUMNS.map((width) => {
    at += width;
    return text.slice(at - width, at).trim();
  });
  const isWhole = text.length === ITEM_CHARS && /^[A-Za-z][\w./-]*$/.test(name) && /^\*?$/.test(mark);
  if (!isWhole || !/^[<>=]*[\d.]*$/.test(amount) || !/^[-+\w.<>=]*$/.test(word)) return text;
  const value = word === "" ? amount : word;
  return {
    result: {
      names: [name, name.replaceAll(".", "")], // S.G. is SG
      label: "",
      value: value === "-" ? "neg" : value,
      unit: word === "" ? unit : "",
      range: "",
      flag: mark,
      notFinal: null,
    },
    amount: word === "" || amount === "" ? [] : [`${name} ${word}: ${amount} ${unit}`],
  };
}

function problem(reason: string): TextReading {
  return { is: "problem", reason };
}
