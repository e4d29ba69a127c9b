import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AstmMessage,
  AstmRecord,
  type Delimiters,
  encodeRecord,
  parseRecords,
  STANDARD_DELIMITERS,
} from "../../../../agent/protocols/astm/records.ts";

/** Encodes records as a message in UTF-8, or in Latin-1 for tests of bytes. */
function parsed(lines: readonly string[], encoding: "utf8" | "latin1" = "utf8"): AstmMessage {
  const result = parseRecords(Buffer.from(lines.map((line) => `${line}\r`).join(""), encoding));
  if ("problem" in result) throw new Error(result.problem);
  return result;
}

/** Parses a record after a standard header. */
function record(line: string, header = "H|\\^&"): AstmRecord {
  const found = parsed([header, line]).records[1];
  if (found === undefined) throw new Error("no record");
  return found;
}

/** Returns the fields of all records as sent, or the problem. */
function rawFields(message: Uint8Array): unknown {
  const result = parseRecords(message);
  if ("problem" in result) return result;
  return result.records.map((each) => Array.from({ length: each.length }, (_, index) => each.raw(index + 1)));
}

function read(text: string): unknown {
  return rawFields(Buffer.from(text, "latin1"));
}

const DELIMITERS: readonly (readonly [string, string, Delimiters])[] = [
  ["the standard's", "H|\\^&", STANDARD_DELIMITERS],
  ["GeneXpert's", "H|@^\\", { field: "|", repeat: "@", component: "^", escape: "\\" }],
  ["Erba's", "H|`^&", { field: "|", repeat: "`", component: "^", escape: "&" }],
  ["DxH's", "H|\\!~", { field: "|", repeat: "\\", component: "!", escape: "~" }],
];

describe("delimiters", () => {
  test.each(DELIMITERS)("the header declares the delimiters %s", (_, header, { repeat, component, escape: mark }) => {
    const line = `R|1|a${component}b${repeat}c${component}${mark}F${mark}|x${mark}R${mark}y`;
    const message = parsed([`${header}|||Analyzer${component}1.0`, line]);
    expect(message.delimiters).toEqual({ field: "|", repeat, component, escape: mark });
    expect(message.records[0]?.components(5)).toEqual(["Analyzer", "1.0"]);
    expect(message.records[1]?.repeats(3)).toEqual([
      ["a", "b"],
      ["c", "|"],
    ]);
    expect(message.records[1]?.field(4)).toBe(`x${repeat}y`);
  });

  test("the header sets the field delimiter", () => {
    const message = parsed(["H!\\^&!!!Analyzer", "R!1!^^^GLU!95|96"]);
    expect(message.records[0]?.field(5)).toBe("Analyzer");
    expect([message.records[1]?.component(3, 4), message.records[1]?.field(4)]).toEqual(["GLU", "95|96"]);
  });

  test.each(["H|\\^", "H|\\^|", "H|\\^|||Analyzer", "H|\\^ |||Analyzer"])("%j declares no escape", (header) => {
    const message = parsed([header, "R|1|^^^GLU|&F& \\ "]);
    expect(message.delimiters).toEqual({ field: "|", repeat: "\\", component: "^", escape: null });
    expect(message.records[0]?.field(5)).toBe(header.endsWith("Analyzer") ? "Analyzer" : "");
    expect(message.records[1]?.repeats(4)).toEqual([["&F& "], [" "]]);
  });

  test("a header may end with its delimiters", () => {
    const message = parsed(["H|\\^&", "L|1"]);
    expect(message.records.map((each) => [each.type, each.length])).toEqual([
      ["H", 2],
      ["L", 2],
    ]);
  });

  test("field 2 is not split, so later fields keep the standard's numbers", () => {
    const header = parsed(["H|\\^&|42|pw|Analyzer^2.1|||||||P|E 1394-97|20260102030405"]).records[0];
    expect([2, 3, 4, 5, 12, 13, 14].map((number) => header?.field(number))).toEqual([
      "",
      "42",
      "pw",
      "Analyzer^2.1",
      "P",
      "E 1394-97",
      "20260102030405",
    ]);
    expect(header?.component(5, 2)).toBe("2.1");
  });

  test("every message may declare other delimiters", () => {
    expect(parsed(["H|\\^&", "C|1|a^b@c"]).records[1]?.repeats(3)).toEqual([["a", "b@c"]]);
    expect(parsed(["H|@^\\", "C|1|a^b@c"]).records[1]?.repeats(3)).toEqual([["a", "b"], ["c"]]);
  });

  test.each([
    ["H", '"H"'],
    ["H|", '"H|"'],
    ["H|\\", '"H|\\"'],
    ["H||^&", '"H||^&"'],
    ["H|\\\\&", '"H|\\\\&"'],
    ["H|\\^^", '"H|\\^^"'],
    ["HAB^&", '"HAB^&"'],
    ["H|1^&", '"H|1^&"'],
    ["H|\\^x", '"H|\\^x"'],
    ["H \\^&", '"H \\^&"'],
    ["H|\\^\t", '"H|\\^?"'],
  ])("%j declares unusable delimiters", (header, quoted) => {
    expect(read(`${header}\rL|1|N\r`)).toEqual({
      problem: `the header starts with ${quoted}, expected H and four different delimiters such as H|\\^&`,
    });
  });
});

describe("escapes", () => {
  test.each([
    ["&F&", "|"],
    ["&R&", "\\"],
    ["&S&", "^"],
    ["&E&", "&"],
    ["&f&&r&&s&&e&", "|\\^&"],
    ["&H&high&N& low", "high low"],
    ["&X41&", "A"],
    ["&X0D0A&", "\r\n"],
    ["&XC3A9&", "é"],
    ["&XE9&", "é"],
    ["&x6d6D&", "mm"],
    ["a&F&b&S&c", "a|b^c"],
    ["&E&F&E&", "&F&"],
    ["&E&&E&", "&&"],
  ])("%j decodes to %j", (sent, text) => {
    expect(record(`C|1|I|${sent}|G`).field(4)).toBe(text);
  });

  test.each([
    "&",
    "&&",
    "Rex & Co",
    "Rex & Co & Sons",
    "&Q&",
    "&Zlocal&",
    "&X&",
    "&X4&",
    "&X4G&",
    "&FF&",
    "&F",
    "F&",
    "a & b & c & d",
    "& F &",
  ])("%j is not an escape and stays", (text) => {
    expect(record(`C|1|I|${text}|G`).field(4)).toBe(text);
  });

  test.each([
    ["Rex & Co &F& Sons", "Rex & Co | Sons"],
    ["&&F&", "&|"],
    ["&F&&", "|&"],
    ["&Z&F&", "&Z|"],
  ])("a lone mark next to an escape stays: %j is %j", (sent, text) => {
    expect(record(`C|1|I|${sent}|G`).field(4)).toBe(text);
  });

  test("a decoded delimiter does not split", () => {
    const line = record("P|1|a&S&b^c&R&d\\e&F&f|g");
    expect(line.repeats(3)).toEqual([["a^b", "c\\d"], ["e|f"]]);
    expect(line.components(3)).toEqual(["a^b", "c\\d"]);
    expect(line.component(3, 1)).toBe("a^b");
    expect(line.field(4)).toBe("g");
    expect(line.raw(3)).toBe("a&S&b^c&R&d\\e&F&f");
  });

  test("an escape ends within its component, repeat or field", () => {
    expect(record("C|1|a&^F&b|&F|&").repeats(3)).toEqual([["a&", "F&b"]]);
    expect(record("C|1|a&^F&b|&F|&").field(4)).toBe("&F");
  });

  test("a hex escape of millions of digits is handled", () => {
    const hex = "41".repeat(5_000_000);
    expect(record(`C|1|&X${hex}&`).field(3)).toHaveLength(5_000_000);
    expect(record(`C|1|&X${hex}G&`).field(3)).toHaveLength(10_000_004);
  });

  test("half a million lone marks are read quickly", () => {
    const marks = "&".repeat(499_000);
    expect(record(`C|1|${marks}`).field(3)).toBe(marks);
  });
});

describe("fields", () => {
  test("fields count from 1, the record type, and are empty if not sent", () => {
    const line = record("R|1|^^^GLU|95");
    expect(line.type).toBe("R");
    expect([0, 1, 2, 3, 4, 5, 99].map((number) => line.field(number))).toEqual(["", "R", "1", "^^^GLU", "95", "", ""]);
    expect([1, 2, 3, 4, 5].map((number) => line.component(3, number))).toEqual(["", "", "", "GLU", ""]);
    expect(line.component(9, 1)).toBe("");
    expect(line.length).toBe(4);
  });

  test('"" deletes a value, which differs from an empty field', () => {
    const line = record('P|1||""|x');
    expect([3, 4].map((number) => line.field(number))).toEqual(["", '""']);
  });

  test("trailing delimiters do not matter", () => {
    for (const line of [record("R|1|^^^GLU|95"), record("R|1|^^^GLU^|95|||^^\\|")]) {
      expect([line.component(3, 4), line.field(4), line.field(5), line.component(7, 2)]).toEqual(["GLU", "95", "", ""]);
    }
  });

  test("repeats and components are split, empty ones kept", () => {
    const line = record("O|1|A^1\\B\\\\^^C|^^^GLU\\^^^CRE");
    expect(line.repeats(3)).toEqual([["A", "1"], ["B"], [""], ["", "", "C"]]);
    expect(line.components(3)).toEqual(["A", "1"]);
    expect(line.repeats(4).map((components) => components[3])).toEqual(["GLU", "CRE"]);
    expect(line.repeats(7)).toEqual([[""]]);
  });

  test("spaces are kept", () => {
    expect(record("R|1|^^^WBC |  5.5| ").field(4)).toBe("  5.5");
    expect(record("R|1|^^^WBC |  5.5| ").component(3, 4)).toBe("WBC ");
  });

  test("record types may be in lower case, with spaces around them", () => {
    expect(parsed(["h|\\^&", "p|1", "R |1", "l|1|n"]).records.map((each) => each.type)).toEqual(["H", "P", "R", "L"]);
    expect(parsed(["h|\\^&", "l|1|n"]).records[1]?.field(3)).toBe("n");
  });
});

describe("text", () => {
  test("UTF-8 is detected", () => {
    expect(parsed(["H|\\^&", "P|1|Ömer|猫|Ω"]).records[1]?.field(4)).toBe("猫");
  });

  test("undeclared Chinese text is GB 18030, but not under a charset of the profile", () => {
    const bytes = Buffer.from("H|\\^&\rR|1|^^^CREA|88|\xa6\xccmol/L\r", "latin1");
    const unit = (message: ReturnType<typeof parseRecords>) =>
      "problem" in message ? message.problem : message.records[1]?.field(5);
    expect(unit(parseRecords(bytes))).toBe("μmol/L");
    expect(unit(parseRecords(bytes, "windows-1254"))).toBe("¦Ìmol/L");
  });

  test("other text is Latin-1, or Windows-1252 where Latin-1 is undefined", () => {
    const line = parsed(["H|\\^&", "P|1|\xd6mer|5 \xb5L|\x80\x92\x81"], "latin1").records[1];
    expect([3, 4, 5].map((number) => line?.field(number))).toEqual(["Ömer", "5 µL", "€’\x81"]);
  });

  test("the charset is decided per message, not per field", () => {
    // C3 A9 alone is UTF-8 for an e with an accent; one invalid byte elsewhere excludes UTF-8.
    const message = parsed(["H|\\^&", "C|1|\xc3\xa9", "C|2|\xe9"], "latin1");
    expect(message.records.slice(1).map((each) => each.field(3))).toEqual(["Ã©", "é"]);
    expect(parsed(["H|\\^&", "C|1|\xc3\xa9"], "latin1").records[1]?.field(3)).toBe("é");
  });

  test.each([
    ["cp850", "G\x81m\x81\x94", "Gümüö"],
    ["windows-1254", "I\xfe\xfdk", "Işık"],
    ["windows-1250", "\x8aime\xe8ek", "Šimeček"],
    ["windows-1251", "\xc1\xe8\xec", "Бим"],
    ["windows-1253", "\xd1\xdd\xee", "Ρέξ"],
    ["windows-1257", "R\xfbdis", "Rūdis"],
  ] as const)("other text is %s if the profile declares it, escapes included", (charset, sent, text) => {
    const hex = Buffer.from(sent, "latin1").toString("hex");
    const result = parseRecords(Buffer.from(`H|\\^&\rP|1|${sent}|&X${hex}&|\r`, "latin1"), charset);
    const fields = "problem" in result ? [] : [3, 4].map((number) => result.records[1]?.field(number));
    expect(fields).toEqual([text, text]);
    const utf8 = parseRecords(Buffer.from(`H|\\^&\rP|1|${text}\r`), charset);
    expect("problem" in utf8 ? utf8 : utf8.records[1]?.field(3)).toBe(text);
  });

  test("every byte decodes to some text", () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => byte !== 13));
    const result = parseRecords(Buffer.concat([Buffer.from("H|\\^&\rM|1|"), all, Buffer.from("\r")]));
    expect("problem" in result ? result : result.records[1]?.type).toBe("M");
  });
});

describe("messages", () => {
  test("CR or CR LF ends a record, and the last end may be missing", () => {
    const message = [
      ["H", ""],
      ["R", "1"],
      ["L", "1", "N"],
    ];
    for (const end of ["\r", "\r\n"]) {
      const text = ["H|\\^&", "R|1", "L|1|N"].join(end);
      expect(read(text)).toEqual(message);
      expect(read(text + end)).toEqual(message);
    }
  });

  test("empty records are skipped, also before the header", () => {
    expect(read("\r\nH|\\^&\r\r\r\nL|1\r\r")).toEqual([
      ["H", ""],
      ["L", "1"],
    ]);
  });

  test.each(["", "\r", "\r\n\r\n"])("%j is an empty message", (text) => {
    expect(read(text)).toEqual({ problem: "the message is empty" });
  });

  test.each([
    ["P|1\rL|1|N\r", '"P|1"'],
    ["1H|\\^&\rL|1|N\r", '"1H|\\^&"'],
    ["\x02H|\\^&\r", '"?H|\\^&"'],
    ["L|1|N and a long text after it\r", '"L|1|N and a long tex..."'],
  ])("%j does not start with H", (text, quoted) => {
    expect(read(text)).toEqual({ problem: `the first record is ${quoted}, expected H` });
  });

  test("a second H is a problem", () => {
    expect(read("H|\\^&\rP|1\rH|\\^&\rP|1\rL|1|N\r")).toEqual({ problem: "record 3 is a second H" });
    expect(read("H|\\^&\rh\r")).toEqual({ problem: "record 2 is a second H" });
  });

  test.each([
    ["2P|1", '"2P|1"'],
    ["RR|1", '"RR|1"'],
    ["|1", '"|1"'],
    ["9", '"9"'],
    ["Ä|1", '"?|1"'],
    [" ", '" "'],
  ])("a record %j without a type letter is a problem", (line, quoted) => {
    expect(parseRecords(Buffer.from(`H|\\^&\r${line}\rL|1|N\r`))).toEqual({
      problem: `record 2 is ${quoted}, expected a type letter`,
    });
  });

  test("100 000 records are read, and one more is a problem", () => {
    const most = `H|\\^&\r${"C|1\r".repeat(99_999)}`;
    expect(parsed([most.slice(0, -1)]).records).toHaveLength(100_000);
    expect(read(`${most}C|1\r`)).toEqual({ problem: "more than 100000 records" });
    expect(read(`H|\\^&${"\r".repeat(16_000_000)}`)).toEqual({ problem: "more than 100000 records" });
  });

  test.each(["|", "\\", "^", "&"])("a message with more than half a million of %s is a problem", (mark) => {
    const problem = { problem: "more than 500000 separators" };
    expect(read(`H|\\^&\rP|1||${mark.repeat(500_001)}\rL|1\r`)).toEqual(problem);
    expect(read(`H|\\^&\r${`C|1||${mark.repeat(50_000)}\r`.repeat(11)}L|1\r`)).toEqual(problem);
    expect(read(`H|\\^&\rP|1||${mark.repeat(490_000)}${"x".repeat(600_000)}\rL|1\r`)).not.toHaveProperty("problem");
  });

  test("any bytes give records or a problem, and never an exception", () => {
    const bytes = fc.uint8Array({ maxLength: 60 });
    const headed = bytes.map((tail) => Uint8Array.from([...Buffer.from("H|\\^&\r"), ...tail]));
    fc.assert(
      fc.property(fc.oneof(bytes, headed), (message) => {
        const result = parseRecords(message);
        const sound =
          "problem" in result
            ? [/^[\x20-\x7e]+$/.test(result.problem)]
            : result.records.map(
                (each) => /^[A-Z]$/.test(each.type) && each.repeats(2).flat().length > 0 && each.field(2).length >= 0,
              );
        expect(sound.every(Boolean)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("encodeRecord", () => {
  test("encodeRecord writes fields, repeats and components with escapes", () => {
    expect(encodeRecord("R", ["1", [["", "", "", "GLU"], ["CRE"]], "a|b\\c^d&e"])).toBe(
      "R|1|^^^GLU\\CRE|a&F&b&R&c&S&d&E&e",
    );
  });

  test("encodeRecord writes control characters as hex", () => {
    expect(encodeRecord("C", ["1", "a\rb\nc\x03d\x7f\x00"])).toBe("C|1|a&X0D&b&X0A&c&X03&d&X7F&&X00&");
  });

  test("encodeRecord writes a space if no escape is declared", () => {
    const delimiters: Delimiters = { ...STANDARD_DELIMITERS, escape: null };
    expect(encodeRecord("P", ["1", "a|b\rP|2^c\\d&e"], delimiters)).toBe("P|1|a b P 2 c d&e");
  });

  test("encodeRecord writes the type before the fields", () => {
    expect(new AstmRecord(encodeRecord("L", ["1", "N"]), STANDARD_DELIMITERS).length).toBe(3);
    expect(encodeRecord("L", [])).toBe("L");
  });

  // Any text, and text full of delimiters and escapes.
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.string({ unit: fc.constantFrom(...Array.from("|\\^&@`!~FRSEHNX0D\r\n \x03\x04\x00é王")), maxLength: 12 }),
  );
  const field = fc.array(fc.array(text, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });

  test.each(DELIMITERS)("with %s delimiters, parseRecords returns any encoded text", (_, header, delimiters) => {
    fc.assert(
      fc.property(fc.array(fc.oneof(text, field), { maxLength: 5 }), (fields) => {
        const message = parsed([header, encodeRecord("R", fields, delimiters), "L|1|N"]);
        const back = fields.map((sent, index) =>
          typeof sent === "string" ? message.records[1]?.field(index + 2) : message.records[1]?.repeats(index + 2),
        );
        expect(message.records).toHaveLength(3);
        expect(message.records[1]?.length).toBe(fields.length + 1);
        expect(back).toEqual(fields);
      }),
      { numRuns: 1_000 },
    );
  });
});
