import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { dialectOf, GENERIC } from "../../../../agent/protocols/poct1/dialect.ts";
import { DEPTH_MAX } from "../../../../agent/protocols/poct1/xml/document-splitter.ts";
import { controlIdOf, encodeMessage, readMessage } from "../../../../agent/protocols/poct1/message.ts";
import { ATTRIBUTES_MAX, ELEMENTS_MAX, find } from "../../../../agent/protocols/poct1/xml/xml.ts";
import { acknowledgement, bytes, endOfTopic, escape, hello, NOW, observation, said, status, XML } from "./wire.ts";

function read(document: string | Uint8Array) {
  const message = readMessage(typeof document === "string" ? bytes(document) : document);
  if (message.is === "unreadable") return message;
  const { root: _, ...rest } = message;
  return rest;
}

function textOf(document: Uint8Array): string {
  return Buffer.from(document).toString("utf8");
}

describe("messages of a device", () => {
  test.each([
    [
      "HEL.R01",
      hello({ directives: ["SET_TIME", "START_CONTINUOUS"] }),
      {
        is: "hello",
        controlId: "1",
        hello: {
          vendor: "ACME",
          model: "BG1",
          serial: "SN77",
          name: "ACME|BG1|SN77",
          applicationTimeoutMs: 30_000,
          directives: ["SET_TIME", "START_CONTINUOUS"],
          topics: [],
          bytesMax: null,
        },
      },
    ],
    [
      "DST.R01",
      status(2, 3, 1),
      {
        is: "status",
        controlId: "2",
        status: { createdAt: NOW, observations: 3, events: 1, condition: "R", operatorsAt: "" },
      },
    ],
    ["OBS.R01", observation(3), { is: "observations", controlId: "3" }],
    ["OBS.R02", observation(3, "1", "OBS.R02"), { is: "observations", controlId: "3" }],
    ["EVS.R01", said("EVS.R01", 4), { is: "events", events: [], controlId: "4" }],
    ["EOT.R01", endOfTopic(5, "D_EV"), { is: "end of topic", controlId: "5", topic: "D_EV", requestId: "" }],
    ["KPA.R01", said("KPA.R01", 6), { is: "keep alive", controlId: "6" }],
    [
      "ACK.R01",
      acknowledgement(7, 4001),
      { is: "acknowledgement", controlId: "7", accepted: true, of: "4001", note: "" },
    ],
    [
      "ACK.R01 with AE",
      acknowledgement(7, 1, "AE"),
      {
        is: "acknowledgement",
        controlId: "7",
        accepted: false,
        of: "1",
        note: "",
      },
    ],
    [
      "ACK.R01 of Sofia",
      said("ACK.R01", 8, '<ACK><ACK.type_id V="AA"/><ACK.control_id V="1"/></ACK>'),
      {
        is: "acknowledgement",
        controlId: "8",
        accepted: true,
        of: "1",
        note: "",
      },
    ],
    ["ESC.R01", escape(9, 4006, "CNC"), { is: "escape", controlId: "9", of: "4006", detail: "CNC" }],
    ["END.R01", said("END.R01", 10), { is: "terminate", controlId: "10" }],
    ["a vendor's message", said("ACME.LOCKSTATUS", 11), { is: "other", controlId: "11" }],
  ])("%s", (_, document, message) => {
    expect(read(document)).toEqual(message);
  });

  test("HELLO with device_id alone is split into its parts, and an implausible timeout ignored", () => {
    const device = '<DEV><DEV.device_id V="SIEM^DCA^77"/><DCP><DCP.application_timeout V="0"/></DCP></DEV>';
    expect(read(said("HEL.R01", 1, device))).toMatchObject({
      hello: { vendor: "SIEM", model: "DCA", serial: "77", applicationTimeoutMs: null, directives: [] },
    });
  });

  test("attributes may be written in every legal way", () => {
    const document = `${XML}<KPA.R01><HDR><HDR.control_id   W='x' V= '&#49;2&amp;'></HDR.control_id></HDR></KPA.R01>`;
    expect(read(document)).toEqual({ is: "keep alive", controlId: "12&" });
  });

  test.each([
    ["UTF-8 without a declaration", "", "utf8"],
    ["UTF-8", XML, "utf8"],
    ["ISO-8859-1", '<?xml version="1.0" encoding="ISO-8859-1"?>', "latin1"],
    ["windows-1252", "<?xml version='1.0' encoding='windows-1252'?>", "latin1"],
    ["Windows-1252 without a declaration", "", "latin1"],
    ["Windows-1252 though UTF-8 is declared", XML, "latin1"],
    ["UTF-8 though ISO-8859-9 is declared", "<?xml version='1.0' encoding='ISO-8859-9'?>", "utf8"],
  ] as const)("text is read in %s", (_, declaration, encoding) => {
    const message = readMessage(
      Buffer.from(`${declaration}<NTE.R01><NTE.text V="10 µmol">µ</NTE.text></NTE.R01>`, encoding),
    );
    expect(message.is).toBe("other");
    const note = message.is === "unreadable" ? null : find(message.root, "NTE.text");
    expect([note?.attributes["V"], note?.text]).toEqual(["10 µmol", "µ"]);
  });
});

test.each([
  ["declared", '<?xml version="1.0" encoding="GB2312"?>'],
  ["undeclared", ""],
])("Chinese text is read if it is %s", (_, declaration) => {
  const document = iconv.encode(`${declaration}<NTE.R01><NTE.text V="贝贝 5 μmol"/></NTE.R01>`, "gb18030");
  const message = readMessage(document);
  const note = message.is === "unreadable" ? null : find(message.root, "NTE.text");
  expect(note?.attributes["V"]).toBe("贝贝 5 μmol");
});

describe("unreadable documents", () => {
  const begin = '<OBS.R01><HDR><HDR.control_id V="7"/></HDR>';

  test.each([
    ["another root after it", `${begin}</OBS.R01><B/>`],
    ["an end tag of another name", `${begin}</OBS>`],
    ["a part", begin],
    ["an entity that is not XML's", `${begin}&nbsp;</OBS.R01>`],
    ["an attribute twice", `${begin}<A V="1" V="2"/></OBS.R01>`],
    ["a bare ampersand", `${begin}A & B</OBS.R01>`],
    ["`<` in an attribute", `${begin}<A V="<1.0"/></OBS.R01>`],
    ["a control character", `${begin}\u0001</OBS.R01>`],
  ])("%s is unreadable; its control id is read if it precedes the fault", (_, document) => {
    expect(read(document)).toEqual({ is: "unreadable", problem: expect.any(String), controlId: "7" });
  });

  test("a DOCTYPE is unreadable, so that no entity is expanded", () => {
    const entities = Array.from({ length: 30 }, (_, n) => `<!ENTITY e${n + 1} "&e${n};&e${n};">`).join("");
    const bomb = `<!DOCTYPE OBS.R01 [<!ENTITY e0 "lol">${entities}]>${begin}&e30;</OBS.R01>`;
    expect(read(bomb)).toEqual({ is: "unreadable", problem: "DOCTYPE is refused", controlId: null });
    expect(read(`<!DOCTYPE OBS.R01 SYSTEM "file:///etc/passwd">${begin}</OBS.R01>`)).toMatchObject({
      problem: "DOCTYPE is refused",
    });
  });

  test(`more than ${ATTRIBUTES_MAX} attributes, of one element or of all, are unreadable`, () => {
    const attributes = (count: number) => Array.from({ length: count }, (_, index) => `a${index}="1"`).join(" ");
    const problem = `more than ${ATTRIBUTES_MAX} attributes`;
    expect(read(`<KPA.R01><HDR ${attributes(300_000)}/></KPA.R01>`)).toMatchObject({ problem });
    expect(read(`<KPA.R01>${`<HDR ${attributes(100)}/>`.repeat(601)}</KPA.R01>`)).toMatchObject({ problem });
    expect(read(`<KPA.R01><HDR ${attributes(1000)}/></KPA.R01>`)).toMatchObject({ is: "keep alive" });
  });

  test(`more than ${ELEMENTS_MAX} elements, or more than ${DEPTH_MAX} levels, are unreadable`, () => {
    const wide = (count: number) => `<KPA.R01>${"<a/>".repeat(count - 1)}</KPA.R01>`;
    expect(read(wide(ELEMENTS_MAX))).toMatchObject({ is: "keep alive" });
    expect(read(wide(ELEMENTS_MAX + 1))).toMatchObject({ problem: `more than ${ELEMENTS_MAX} elements` });
    const deep = (levels: number) => `<KPA.R01>${"<a>".repeat(levels - 1)}${"</a>".repeat(levels - 1)}</KPA.R01>`;
    expect(read(deep(DEPTH_MAX))).toMatchObject({ is: "keep alive" });
    expect(read(deep(100_000))).toMatchObject({ problem: `elements nested more than ${DEPTH_MAX} deep` });
  });

  test("encodings whose tags are not ASCII are unreadable", () => {
    expect(read(`<?xml version="1.0" encoding="UTF-16"?>${begin}</OBS.R01>`)).toEqual({
      is: "unreadable",
      problem: "encoding UTF-16, expected UTF-8, ISO-8859, GB 18030 or a Windows code page",
      controlId: "7",
    });
  });

  test("attributes named like object properties are plain attributes", () => {
    const message = readMessage(bytes('<KPA.R01><a __proto__="x" constructor="y"/></KPA.R01>'));
    expect(message.is === "unreadable" ? null : find(message.root, "a")?.attributes["V"]).toBe(undefined);
    expect(({} as Record<string, unknown>)["x"]).toBe(undefined);
  });

  test("the control id of a cut document is found once it is received", () => {
    expect(controlIdOf(bytes(`${begin}<SVC`))).toBe("7");
    expect(controlIdOf(bytes("<OBS.R01><HDR><HDR.contr"))).toBe(null);
  });
});

describe("messages of the agent", () => {
  const header = (root: string) =>
    `<${root}><HDR><HDR.message_type V="${root}"/><HDR.control_id V="4001"/><HDR.version_id V="POCT1"/><HDR.creation_dttm V="${NOW}"/></HDR>`;

  test.each([
    ["ACK.R01", { is: "ACK", accepted: true, of: "1" }, '<ACK><ACK.type_cd V="AA"/><ACK.ack_control_id V="1"/></ACK>'],
    [
      "ACK.R01",
      { is: "ACK", accepted: false, of: "1", note: 'a<b & "c"' },
      '<ACK><ACK.type_cd V="AE"/><ACK.ack_control_id V="1"/><ACK.note_txt V="a&#60;b &#38; &#34;c&#34;"/></ACK>',
    ],
    ["REQ.R01", { is: "REQ", code: "ROBS" }, '<REQ><REQ.request_cd V="ROBS"/></REQ>'],
    ["DTV.R01", { is: "DTV", command: "LOCK" }, '<DTV><DTV.command_cd V="LOCK"/></DTV>'],
    [
      "DTV.R02",
      { is: "DTV", command: "SET_TIME", time: NOW },
      `<DTV><DTV.command_cd V="SET_TIME"/></DTV><TM><TM.dttm V="${NOW}"/></TM>`,
    ],
    ["KPA.R01", { is: "KPA" }, ""],
    ["END.R01", { is: "END", reason: "NRM" }, '<TRM><TRM.reason_cd V="NRM"/></TRM>'],
  ] as const)("%s %o", (root, message, body) => {
    expect(textOf(encodeMessage(message, 4001, NOW, GENERIC))).toBe(`${XML}${header(root)}${body}</${root}>`);
  });

  test("any text is escaped and read back", () => {
    for (const of of ["1", `"/><X V="`, "a\tb\nc", "\u{1f415}", "&amp;", "]]>"]) {
      const message = readMessage(encodeMessage({ is: "ACK", accepted: true, of }, 1, NOW, GENERIC));
      expect(message).toMatchObject({ is: "acknowledgement", of });
    }
    const odd = readMessage(encodeMessage({ is: "ACK", accepted: true, of: "1\u0001\ud8002\uffff" }, 1, NOW, GENERIC));
    expect(odd).toMatchObject({ of: "1  2" });
  });
});

test.each([
  ["ACME", "BG1", GENERIC],
  ["SIEM", "DCA", { ...GENERIC, ackEndOfTopic: false }],
  ["NOVABIO", "StatStrip", { ...GENERIC, ackEndOfTopic: false }],
  ["PixCell", "HemoScreen", { ...GENERIC, ackField: "ACK.control_id" }],
  ["ABBOTT", "i-STAT 1", { ...GENERIC, xmlDeclaration: false, requestEach: true }],
])("the dialect of %s %s", (vendor, model, dialect) => {
  expect(dialectOf({ vendor, model })).toEqual(dialect);
});
