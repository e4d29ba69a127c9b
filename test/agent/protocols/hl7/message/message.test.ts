import { existsSync, readdirSync, readFileSync } from "node:fs";
import iconv from "iconv-lite";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PARTS_MAX } from "../../../../../agent/protocols/parts.ts";
import { type Charset, encodeText } from "../../../../../agent/protocols/hl7/message/charset.ts";
import {
  MESSAGE_BYTES_MAX,
  parseMessage,
  splitMessages,
  withoutStamp,
} from "../../../../../agent/protocols/hl7/message/message.ts";
import { encodeSegment, Segment, STANDARD_DELIMITERS } from "../../../../../agent/protocols/hl7/message/segment.ts";
import { parseByOther } from "../../../../support/protocols/hl7-standard.ts";
import { bytes, show } from "../../astm/wire.ts";
import { header, parsed, textOf } from "../wire.ts";

const segment = (text: string) => new Segment(text, STANDARD_DELIMITERS);
const names = (text: string) => parsed(text).segments.map(({ text: one }) => one.replace(/\|.*/s, ""));

describe("fields", () => {
  test("are numbered as the standard numbers them, MSH-1 being the separator itself", () => {
    const { header: msh } = parsed(header());
    expect([1, 2, 3, 9, 10, 12, 99].map((number) => msh.raw(number))).toEqual([
      "|",
      "^~\\&",
      "BC-5300",
      "ORU^R01",
      "4711",
      "2.3.1",
      "",
    ]);
    expect([msh.component(9, 1), msh.component(9, 2), msh.component(9, 3), msh.length]).toEqual(["ORU", "R01", "", 12]);
    expect(msh.repetitions(2)).toEqual([["^~\\&"]]);
  });

  test("hold repetitions, components and sub-components", () => {
    const pid = segment("PID|1||D-77^^^A&1.2&ISO^MR~0815|");
    expect(pid.repetitions(3)).toEqual([["D-77", "", "", "A&1.2&ISO", "MR"], ["0815"]]);
    expect(pid.components(3)).toEqual(["D-77", "", "", "A&1.2&ISO", "MR"]);
    expect([pid.subcomponents(3, 4), pid.subcomponents(3, 1), pid.subcomponents(3, 9)]).toEqual([
      ["A", "1.2", "ISO"],
      ["D-77"],
      [""],
    ]);
    expect(pid.length).toBe(4);
    const obx = segment("OBX|1|NM|WBC||1~2");
    expect([obx.component(3, 1), obx.component(3, 2), obx.repetitions(5)]).toEqual(["WBC", "", [["1"], ["2"]]]);
  });

  test("free text keeps a bare ampersand or caret", () => {
    const obx = segment("OBX|1|TX|note||Dogs & cats 10^9/L");
    expect([obx.field(5), obx.component(5, 1)]).toEqual(["Dogs & cats 10^9/L", "Dogs & cats 10"]);
  });

  test.each([
    ["a\\F\\b\\S\\c\\R\\d\\E\\e\\T\\f", "a|b^c~d\\e&f"],
    ["line\\.br\\line", "line\nline"],
    ["\\H\\loud\\N\\", "loud"],
    ["\\X0D0A\\", "\r\n"],
    ["\\Xe4b8ad\\", "中"],
    ["C:\\data\\file", "C:\\data\\file"],
    ["\\F", "\\F"],
    ["\\\\F\\", "\\|"],
    ["\\Zxy\\", "\\Zxy\\"],
  ])("the escapes in %s decode to %j", (sent, text) => {
    expect(segment(`NTE|1||${sent}`).field(3)).toBe(text);
  });

  test("an escaped delimiter does not separate", () => {
    expect(segment("OBX|1|ST|a\\S\\b^c\\R\\d").repetitions(3)).toEqual([["a^b", "c~d"]]);
  });
});

describe("delimiters", () => {
  test.each(["MSH|@*/%|BC|M", "MSH#^~\\&#BC#M", "MSH|^~\\&#|BC|M", "MSH|^~|BC|M", "MSH|^~\\|BC|M"])(
    "the header declares the delimiters: %s",
    (first) => {
      const { delimiters, header: msh } = parsed(first);
      const [, field, component, repetition] = first.slice(2).split("");
      expect([delimiters.field, delimiters.component, delimiters.repetition]).toEqual([field, component, repetition]);
      expect([msh.field(3), msh.field(4)]).toEqual(["BC", "M"]);
    },
  );

  test("a header that declares the component separator alone has the standard's repetition", () => {
    const message = parseMessage(bytes("MSH|^|BC|M<CR>PID|1||4711^^^MR~12"));
    expect("problem" in message ? message : message.segments[1]?.repetitions(3)).toEqual([
      ["4711", "", "", "MR"],
      ["12"],
    ]);
  });

  test.each(["MSH", "MSH|", "MSH||BC", "MSH|^^\\&|", "MSHA^~\\&A", "MSH|^a\\&|"])(
    "undeclared delimiters do not separate: %s",
    (first) => {
      expect(parseMessage(bytes(first))).toMatchObject({ problem: expect.stringContaining("different delimiters") });
    },
  );
});

describe("segments", () => {
  test.each(["<CR>", "<LF>", "<CR><LF>", "<LF><CR>", "<CR><CR>", "<CR><LF><CR><LF>"])("segments end with %s", (end) => {
    const text = [header(), "PID|1", "OBX|1||A", "OBX|2||B"].join(end);
    expect(names(text)).toEqual(["MSH", "PID", "OBX", "OBX"]);
    expect(names(text + end)).toEqual(["MSH", "PID", "OBX", "OBX"]);
  });

  test("segments end with any mixture of line ends", () => {
    expect(names(`${header()}<CR>PID|1<LF>OBX|1||A<CR><LF>OBX|2||B<LF><CR>NTE|1`)).toEqual([
      "MSH",
      "PID",
      "OBX",
      "OBX",
      "NTE",
    ]);
  });

  test("a byte order mark, blanks or batch headers may precede the header", () => {
    for (const before of ["\xef\xbb\xbf", "<CR><LF>", "  ", "<VT>", "FHS|^~\\&|BC<CR>BHS|^~\\&|BC<CR>"]) {
      expect(parsed(`${before}${textOf(header())}`).header.field(10)).toBe("4711");
    }
  });

  test("segments keep their order, unknown names and lower case", () => {
    expect(parsed(textOf(header(), "obx|1", " NTE|1", "ZPM|x", "PV1")).segments.map(({ name }) => name)).toEqual([
      "MSH",
      "OBX",
      "NTE",
      "ZPM",
      "PV1",
    ]);
  });

  test("a line that does not start a segment continues the last one", () => {
    const { segments } = parsed(textOf(header(), "NTE|1||first", "second line", "dog", "OBX|1"));
    expect(segments.map(({ text }) => text).slice(1)).toEqual(["NTE|1||first\nsecond line\ndog", "OBX|1"]);
  });

  test.each([
    ["", "the message is empty"],
    ["<CR><LF><CR>", "the message is empty"],
    ["PID|||1||Ada^Pamuk<CR>", 'the first segment is "PID", expected MSH'],
    [textOf(header(), "PID|1", header()), "segment 3 is a second MSH"],
  ])("an invalid message is reported with its problem (case %#)", (text, problem) => {
    expect(parseMessage(bytes(text))).toEqual({ problem });
  });

  test("a message that reaches a limit is read up to its last complete segment, with a note", () => {
    const many = parsed(`${header()}${"<CR>OBX|1".repeat(100_005)}`);
    expect(many.segments.length).toBe(100_001);
    expect(many.cutShort).toBe("the message reaches the limit of 100000 segments: the rest is not read");
    const start = `${header()}<CR>OBX|1|NM|ALT||61<CR>OBX|2|ED|PIC||`;
    const long = parsed(start.padEnd(MESSAGE_BYTES_MAX + 2 * start.split("<CR>").length, "x"));
    expect(long.cutShort).toMatch(/^the message reaches the limit of 16777216 bytes/);
    expect(long.segments.map(({ name }) => name)).toEqual(["MSH", "OBX"]);
    expect(parsed(start).cutShort).toBeNull();
  });

  test.each(["|", "^", "~", "&", "\\", "a~"])(
    "segments with too many %s are left out with a note, and the others are read",
    (part) => {
      const many = part.repeat(PARTS_MAX + 1);
      const begun = process.cpuUsage();
      const message = parsed(`${header()}<CR>PID|1||X||${many}<CR>OBX|1|NM|${many}<CR>OBX|2|NM|ALT||61`);
      expect(message.segments.map(({ text }) => text.slice(0, 5))).toEqual(["MSH|^", "OBX|2"]);
      expect(message.cutShort).toBe("more than 500000 separators: 2 segments are not read");
      // Reading them took many seconds.
      expect(process.cpuUsage(begun).user / 1000).toBeLessThan(3000);
      const within = parsed(`${header()}<CR>OBX|1|NA|WAVE||${"1^".repeat(PARTS_MAX / 2)}<CR>OBX|2|NM|ALT||61`);
      expect([within.segments.length, within.cutShort]).toEqual([3, null]);
      expect(parseMessage(bytes(`${header()}|${"|".repeat(PARTS_MAX)}`))).toEqual({
        problem: "the header has more than 500000 separators",
      });
    },
  );

  test("a line without letters and digits after the header is not part of it", () => {
    expect(parsed(`${header()}<CR>\\<CR>OBX|1`).segments.map(({ text }) => text)).toEqual([header(), "OBX|1"]);
  });

  test("two messages in one payload stay separate", () => {
    const two = textOf(header(), "PID|1||D-77", "NTE|1||MSH|", header({ 10: "4712" }), "PID|1||D-78");
    const messages = splitMessages(bytes(`FHS|^~\\&<CR>${two}`)).map((one) => parsed(one));
    expect(messages.map((one) => [one.header.field(10), one.segments[1]?.field(3)])).toEqual([
      ["4711", "D-77"],
      ["4712", "D-78"],
    ]);
    expect(splitMessages(bytes("noise"))).toEqual([bytes("noise")]);
  });
});

describe("charsets", () => {
  const read = (stated: string, name: Uint8Array, options = {}) => {
    const message = parseMessage(
      Buffer.concat([bytes(`${header({ 18: stated })}<CR>PID|1||`), name, bytes("|x<CR>")]),
      options,
    );
    return "problem" in message
      ? message
      : [message.segments[1]!.field(3), message.segments[1]!.field(4), message.replacements];
  };

  test.each([
    ["UNICODE", "utf-8", "Köpek 中"],
    ["UNICODE UTF-8", "utf-8", "Köpek 中"],
    ["UTF-8", "utf-8", "Köpek 中"],
    ["unicode", "utf-8", "Köpek 中"],
    ["8859/1", "iso-8859-1", "Köpek"],
    ["8859/5~UNICODE", "iso-8859-5", "Собака"],
    ["8859/9", "iso-8859-9", "şeker"],
    ["GB 18030-2000", "gb18030", "乗乘狗"],
    ["gb 18030-2000", "gb18030", "狗"],
    ["BIG-5", "big5", "狗功"],
    ["KS X 1001", "euc-kr", "개"],
    ["", "utf-8", "Köpek 中"],
    ["ASCII", "utf-8", "Köpek"],
    ["", "windows-1252", "Köpek €"],
    ["", "gb18030", "μmol"],
    ["ASCII", "gb18030", "×10"],
    ["", "gb18030", "小花 A"],
    ["", "windows-1252", "µmol 37 °C ±2 x10³/µL"],
    ["", "windows-1252", "Aïda Müßig, Gräfin"],
    ["8859/9", "windows-1254", "Ağır Işığı"],
    ["", "windows-1252", "ÇÖÐÜR"], // ÇÖĞÜR of Windows-1254
    ["ASCII", "windows-1252", "Köpek"],
    ["KLINGON", "windows-1252", "Köpek"],
  ])("MSH-18 %j with %s text is read %s", (stated, encoding, text) => {
    expect(read(stated, iconv.encode(text, encoding))).toEqual([text, "x", 0]);
  });

  test("ISO IR87 is decoded by its escape sequences", () => {
    expect(read("ISO IR87", bytes("\x1b$B8$\x1b(B"))).toEqual(["犬", "x", 0]);
  });

  test("the configured charset overrides MSH-18", () => {
    const dog = iconv.encode("乗狗", "gb18030");
    expect(read("UNICODE", dog, { charset: "gb18030" })).toEqual(["乗狗", "x", 0]);
  });

  test("an invalid byte is replaced and counted", () => {
    expect(read("UNICODE", Buffer.from([0x41, 0xff, 0xfe]))).toEqual(["A\ufffd\ufffd", "x", 2]);
  });

  test("a character whose second byte equals a delimiter is not split", () => {
    // U+4E57 is 81 5C, and 5C is the backslash; others end with | ^ or ~.
    const trails = Array.from({ length: 0x5000 }, (_, index) => String.fromCodePoint(0x4e00 + index)).filter((char) =>
      "|^~\\".includes(String.fromCharCode(iconv.encode(char, "gb18030")[1]!)),
    );
    expect(trails.length).toBeGreaterThan(400);
    const all = trails.join("");
    expect(read("GB 18030-2000", iconv.encode(all, "gb18030"))).toEqual([all, "x", 0]);
  });

  test("text encoded in a charset decodes to the same text", () => {
    const texts: readonly [Charset, string][] = [
      ["utf-8", "Köpek 中"],
      ["gb18030", "狗"],
      ["windows-1252", "Köpek"],
    ];
    for (const [charset, text] of texts)
      expect(read("", encodeText(text, charset), { charset })).toEqual([text, "x", 0]);
    expect(Buffer.from(encodeText("中", "windows-1252")).toString()).toBe("?");
  });
});

test("withoutStamp removes exactly MSH-7 and MSH-10 from the header", () => {
  const field = fc.string({ unit: fc.constantFrom("M", "S", "H", "a", "^", "\xe9", "\x85", " "), maxLength: 6 });
  const before = fc.constantFrom("", "\r", "M\n", "MSH\r", "xMSH|1\r", "MSHa\n", "MXH|1\r", "MSX|1\n");
  const behind = fc.constantFrom("", "\r", "\nPID|1|2|3\r", "\rMSH|^~|7\r");
  const fields = fc.array(field, { maxLength: 12 });
  fc.assert(
    fc.property(before, fc.constantFrom("|", "#", "\x81"), fields, behind, (start, separator, sent, end) => {
      const all = ["MSH", ...sent, ""];
      const text = start + all.join(separator) + end;
      expect(withoutStamp(Buffer.from(text, "latin1"))).toEqual({
        type: all[8] ?? "",
        id: all[9] ?? "",
        sent: all[6] ?? "",
        end: text.length - end.length,
        header: all.map((each, index) => (index === 6 || index === 9 ? "" : each)).join(separator),
      });
    }),
  );
  expect(["PID|MSH|", "PID|1\rMS", "PID|1\rMSH"].map((text) => withoutStamp(Buffer.from(text)))).toEqual([
    null,
    null,
    null,
  ]);
});

describe("parsing and encoding", () => {
  const leaf = fc.string({ unit: fc.constantFrom(...Array.from("aZ09 |^~\\&.\r\n\x0b\x1cXFé中")) });
  const field = fc.array(fc.array(fc.array(leaf, { minLength: 1 }), { minLength: 1 }), { minLength: 1, maxLength: 3 });
  const declarations = ["|^~\\&", "#@*/%", "$!?'\""];

  test("any text in fields is read back, under any delimiters and line ends", () => {
    const property = fc.property(
      fc.constantFrom(...declarations),
      fc.array(field, { maxLength: 4 }),
      (marks, fields) => {
        const first = `MSH${marks}${marks[0]}BC`;
        const { delimiters } = parsed(first);
        const text = encodeSegment("OBX", fields, delimiters);
        const message = parseMessage(Buffer.from(`${first}\r${text}\r`));
        if ("problem" in message) throw new Error(message.problem);
        expect(message.segments).toHaveLength(2);
        const obx = message.segments[1]!;
        const read = fields.map((_, index) => obx.repetitions(index + 1));
        // The text of a component contains its sub-components.
        expect(read).toEqual(
          fields.map((one) => one.map((components) => components.map((parts) => parts.join(delimiters.subcomponent!)))),
        );
        expect(fields.map((_, index) => obx.subcomponents(index + 1, 1))).toEqual(fields.map((one) => one[0]?.[0]));
        expect(message.header.text).toBe(first);
      },
    );
    fc.assert(property, { numRuns: 500 });
  });

  test("a parsed and encoded message stays the same", () => {
    const word = fc.array(
      fc.constantFrom("a", "9", " ", "|", "^", "~", "&", "\\F\\", "\\T\\", "\\X0D\\", "\\E\\", "é"),
    );
    const property = fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (lines) => {
      const texts = lines.map((words, index) => `${["PID", "OBX", "NTE"][index % 3]}|${words.join("")}`);
      const { segments } = parsed(Buffer.from([header(), ...texts].join("\r")));
      const again = segments.slice(1).map((one) => {
        const fields = Array.from({ length: one.length }, (_, index) =>
          // subcomponents() reads the first repetition of a field, so each repetition becomes a field here.
          one
            .raw(index + 1)
            .split("~")
            .map((raw) => {
              const alone = segment(`ZZZ|${raw}`);
              return alone.components(1).map((_part, at) => alone.subcomponents(1, at + 1));
            }),
        );
        return encodeSegment(one.name, fields);
      });
      expect(again).toEqual(texts);
      expect(segments.map(({ text }) => text)).toEqual([header(), ...texts]);
    });
    fc.assert(property, { numRuns: 500 });
  });

  test("any bytes give a message or a problem, and never an exception", () => {
    const mutated = fc.tuple(fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 }))), fc.nat()).map(([changes, cut]) => {
      const wire = bytes(textOf(header({ 18: "UNICODE" }), "PID|1||D\\X41\\^&~7", "OBX|1||a\\F\\b", header()));
      for (const [at, byte] of changes) wire[at % wire.length] = byte;
      return wire.subarray(cut % 2 === 0 ? 0 : cut % wire.length);
    });
    const property = fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 300 })), (wire) => {
      for (const one of splitMessages(wire)) {
        const message = parseMessage(one);
        const problem = "problem" in message ? message.problem : "a message";
        const segments = "problem" in message ? [] : message.segments;
        expect(problem).toMatch(/^[\x20-\x7e]{5,120}$/);
        expect(segments.every(({ name, length }) => name.length === 3 && length >= 0)).toBe(true);
      }
      expect(Buffer.concat(splitMessages(wire))).toEqual(Buffer.from(wire));
    });
    fc.assert(property, { numRuns: 1_000 });
  });
});

describe("compared with hl7-standard, where that is right", () => {
  const text = fc.string({ unit: fc.constantFrom(...Array.from("abcXYZ019 .,-_/*<>+()")), minLength: 1, maxLength: 8 });
  const components = fc.array(text, { minLength: 2, maxLength: 4 });

  test("every field and component equals that of hl7-standard", () => {
    const segments = fc.array(fc.array(fc.oneof(text, components, fc.constant("")), { minLength: 1, maxLength: 8 }), {
      maxLength: 6,
    });
    const property = fc.property(segments, (all) => {
      const lines = all.map(
        (fields) => `OBX|${fields.map((one) => (Array.isArray(one) ? one.join("^") : one)).join("|")}`,
      );
      const message = textOf(header(), ...lines).replaceAll("<CR>", "\r");
      const other = parseByOther(message);
      const ours = parsed(Buffer.from(message)).segments;
      expect(other.get("MSH.10")).toBe(ours[0]!.field(10));
      const others = other.getSegments("OBX");
      expect(others).toHaveLength(all.length);
      for (const [index, fields] of all.entries()) {
        for (const [at, one] of fields.entries()) {
          const [obx, theirs] = [ours[index + 1]!, others[index]!];
          const paths = Array.isArray(one) ? one.map((_, part) => `OBX.${at + 1}.${part + 1}`) : [`OBX.${at + 1}`];
          expect(obx.components(at + 1)).toEqual(paths.map((path) => theirs.get(path) ?? ""));
        }
      }
    });
    fc.assert(property, { numRuns: 300 });
  });
});

const captures = new URL("../../../../../shared/captures/hl7/", import.meta.url);
const files = existsSync(captures) ? readdirSync(captures).filter((name) => name.endsWith(".hl7")) : [];

test.skipIf(files.length === 0)("field captures are read without losing a segment", () => {
  for (const file of files) {
    const bytesOfFile = readFileSync(new URL(file, captures));
    const lines = show(bytesOfFile)
      .split(/(?:<CR>|<LF>)+/)
      .filter((line) => line !== "");
    expect([file, parsed(bytesOfFile).segments.length]).toEqual([file, lines.length]);
  }
});
