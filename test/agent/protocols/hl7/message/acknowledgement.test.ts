import { describe, expect, test } from "vitest";
import { type AckMode } from "../../../../../agent/protocols/hl7/message/acknowledgement.ts";
import { answeredWith, answers, header, parsed, textOf } from "../wire.ts";

describe("acknowledgment mode", () => {
  test.each([
    ["", "", ["AA"], ["AE"]],
    ["NE", "NE", [], []],
    ["AL", "AL", ["CA", "AA"], ["CR"]],
    ["NE", "AL", ["AA"], ["AE"]],
    ["AL", "NE", ["CA"], ["CR"]],
    ["AL", "", ["CA"], ["CR"]],
    ["", "AL", ["AA"], ["AE"]],
    ["ER", "NE", [], ["CR"]],
    ["SU", "NE", ["CA"], []],
    ["NE", "ER", [], ["AE"]],
    ["NE", "SU", ["AA"], []],
    ["AL", "ER", ["CA"], ["CR"]],
    // Mindray's patient, calibration and control: no mode at all.
    ["", "0", ["AA"], ["AE"]],
    ["", "1", ["AA"], ["AE"]],
    ["", "2", ["AA"], ["AE"]],
    ["AL", "2", ["CA"], ["CR"]],
    [" al ", "ne", ["CA"], ["CR"]],
  ])("MSH-15 %j and MSH-16 %j get %j, and %j if the message is not stored", (accept, application, good, bad) => {
    const message = textOf(header({ 15: accept, 16: application }));
    const codes = (outcome: "stored" | "not-stored") =>
      answers(message, {}, outcome).map((reply) => answeredWith(reply).slice(0, 2));
    expect([codes("stored"), codes("not-stored")]).toEqual([good, bad]);
  });

  test.each<[AckMode, string, string, string[]]>([
    ["original", "AL", "AL", ["AA"]],
    ["original", "NE", "NE", ["AA"]],
    ["enhanced", "", "", ["CA"]],
    ["enhanced", "", "AL", ["CA", "AA"]],
    ["enhanced", "NE", "AL", ["AA"]],
    ["aa", "AL", "NE", ["AA"]],
    ["aa", "NE", "NE", ["AA"]],
  ])("mode %s turns MSH-15 %j and MSH-16 %j into %j", (ackMode, accept, application, codes) => {
    const replies = answers(textOf(header({ 15: accept, 16: application })), { ackMode });
    expect(replies.map((reply) => answeredWith(reply).slice(0, 2))).toEqual(codes);
  });

  test("mode aa sends AA for every stored message, and for no other", () => {
    const options = { ackMode: "aa" } as const;
    const messages = ["", "noise", textOf(header({ 9: "ADT^A01" })), textOf(header({ 10: "" }))];
    expect(messages.map((message) => answers(message, options).map(answeredWith))).toEqual([
      ["AA"],
      ["AA"],
      ["AA 4711"],
      ["AA"],
    ]);
    expect(answers(textOf(header()), options, "not-stored").map(answeredWith)).toEqual(["AE 4711"]);
    expect(answers(textOf(header()), options, "too-long").map(answeredWith)).toEqual(["AA 4711"]);
  });

  test("an acknowledgement gets no reply", () => {
    const acknowledgement = textOf(header({ 9: "ACK^Q03" }), "MSA|AA|1");
    const response = textOf(header({ 9: "ORL^O34^ORL_O34" }), "MSA|AA|1");
    for (const ackMode of ["auto", "original", "aa"] as const) {
      expect(
        [acknowledgement, response, textOf(header({ 9: "ACK" }))].flatMap((one) => answers(one, { ackMode })),
      ).toEqual([]);
    }
    const asked = textOf(header({ 9: "ORL^O34^ORL_O34", 15: "AL", 16: "AL" }), "MSA|AA|1");
    expect(answers(asked).map(answeredWith)).toEqual(["CA 4711"]);
  });

  test("a result with MSA after the software segment gets no reply", () => {
    const rows = ["PID|||K9-1", "OBR|1", "OBX|1|NM|ALT||40|U/L"];
    expect(answers(textOf(header({ 9: "ORU^R01" }), "SFT|Vendor", "MSA|AA|1", ...rows))).toEqual([]);
    expect(answers(textOf(header({ 9: "ORU^R01" }), "SFT|Vendor", ...rows)).map(answeredWith)).toEqual(["AA 4711"]);
  });
});

describe("content of an acknowledgement", () => {
  test("a 2.3.1 acknowledgement swaps addresses, echoes processing id, version and charset, and has MSA-6", () => {
    expect(answers(textOf(header({ 18: "UNICODE" })))).toEqual([
      textOf(
        "MSH|^~\\&|LIS|Clinic|BC-5300|Mindray|20261121173059+0300||ACK^R01|V-1|P|2.3.1||||||UNICODE",
        "MSA|AA|4711|Message accepted|||0",
      ),
    ]);
  });

  test("a 2.6 acknowledgement repeats the message structure and leaves MSA-6 empty", () => {
    const message = textOf(
      header({ 9: "ORU^R01^ORU_R01", 10: "{a127593b-8705}", 11: "P", 12: "2.6", 15: "AL", 16: "NE" }),
    );
    expect(answers(message)).toEqual([
      textOf(
        "MSH|^~\\&|LIS|Clinic|BC-5300|Mindray|20261121173059+0300||ACK^R01^ACK|V-1|P|2.6",
        "MSA|CA|{a127593b-8705}|Message accepted",
      ),
    ]);
  });

  test("a refusal of 2.5 and later has an ERR with a code of table 0357", () => {
    const message = textOf(header({ 9: "ADT^A01^ADT_A01", 12: "2.5.1" }));
    expect(answers(message)).toEqual([
      textOf(
        "MSH|^~\\&|LIS|Clinic|BC-5300|Mindray|20261121173059+0300||ACK^A01^ACK|V-1|P|2.5.1",
        'MSA|AR|4711|message type "ADT\\S\\A01\\S\\ADT_A01" is not taken',
        'ERR|||200^message type "ADT\\S\\A01\\S\\ADT_A01" is not taken^HL70357|E||||message type "ADT\\S\\A01\\S\\ADT_A01" is not taken',
      ),
    ]);
  });

  test("MSA-2 repeats MSH-10 as sent, in the message's charset", () => {
    for (const id of [" {4711} ", "A\\T\\B", "20241024_152427_617", "a&b~c"]) {
      expect(answers(textOf(header({ 10: id })))[0]).toContain(`<CR>MSA|AA|${id}|Message`);
    }
    // The second byte of this character is a backslash.
    const message = `${header({ 3: "%", 10: "x%x", 18: "GB 18030-2000" })}<CR>`.replaceAll("%", "\x81\x5c");
    expect(answers(message)[0]).toMatch(/^MSH\|\^~\\&\|LIS\|Clinic\|\x81\\\|Mindray\|.*<CR>MSA\|AA\|x\x81\\x\|Message/);
  });

  test.each(["1ID|x", "P-D|x", "PI-|x", "PI{|x", "PID#x"])(
    "a header that continues in a line %s is read up to its MSH-10",
    (line) => {
      const first = "MSH|^~\\&|BC-5300||LIS||20261121090000||ORU^R01|4711";
      const [reply = ""] = answers(textOf(first, line, "OBR|1", "OBX|1"));
      expect(answeredWith(reply)).toBe(`AA 4711 ${line.split("|")[0]}`);
    },
  );

  test("echoed text cannot end the segment or the frame", () => {
    const [reply = ""] = answers(`${header({ 10: "47<LF>11<FS>x" })}<CR>`);
    expect(reply).toContain("<CR>MSA|AA|47 11 x|Message accepted|||0<CR>");
    const [found = ""] = answers(textOf(header({ 9: "QBP^Q11" }), "QPD|WOS|tag|a", "line", "RCP|I"));
    expect(found.endsWith("<CR>QPD|WOS|tag|a line<CR>")).toBe(true);
    const [named = ""] = answers(textOf(header({ 9: "QBP^Q11" }), "QpD|WOS|tag", "RCP|I"));
    expect(named.endsWith("<CR>QPD|WOS|tag<CR>")).toBe(true);
  });

  test("an acknowledgement uses the message's delimiters", () => {
    const message = textOf("MSH#@*/%#BC#M###2026##ORU@R01#77#P#2.3.1");
    expect(answers(message)).toEqual([
      textOf("MSH#@*/%###BC#M#20261121173059+0300##ACK@R01#V-1#P#2.3.1", "MSA#AA#77#Message accepted###0"),
    ]);
  });

  test("a text with delimiters stays in its field, and is cut at 80 characters", () => {
    const [reply = ""] = answers(textOf(header({ 9: `A|^${"x".repeat(100)}` })));
    const msa = parsed(reply).segments[1]!;
    expect(msa.field(3).length).toBeLessThanOrEqual(80);
    expect(msa.field(6)).toBe("200");
  });
});

describe("refused messages", () => {
  test.each([
    ["the disk refused it", header(), "not-stored", "AE", "207"],
    ["it requests data that the agent does not have", header({ 9: "QRY^A19" }), "stored", "AR", "200"],
    [
      "it is of the device's own type and has results",
      `${header({ 9: "ZRU^R01" })}<CR>OBX|1|NM|ALT||61`,
      "stored",
      "AR",
      "200",
    ],
    ["it is of a kind that no device of ours sends", header({ 9: "ADT^A01" }), "stored", "AR", "200"],
  ] as const)("%s", (_, first, outcome, code, status) => {
    const [reply = ""] = answers(textOf(first), {}, outcome);
    const msa = parsed(reply).segments[1]!;
    expect([msa.field(1), msa.field(6)]).toEqual([code, status]);
  });

  test.each(["ZHB^H00", "HEARTBEAT", "HB", "", "LSU^U12^LSU_U12", "EAN^U09"])(
    "a sign of life of type %s is accepted",
    (type) => {
      expect(answers(textOf(header({ 9: type }))).map(answeredWith)).toEqual(["AA 4711"]);
      expect(answers(textOf(header({ 9: type }), "EQU|1|20261121113100|ID", "NTE|1||ready")).map(answeredWith)).toEqual(
        ["AA 4711"],
      );
    },
  );

  test("a message over the limit is accepted, because the part that fits is stored", () => {
    expect(answers(textOf(header()), {}, "too-long").map(answeredWith)).toEqual(["AA 4711"]);
  });

  test("a message with unreadable results is accepted, because it is stored", () => {
    expect(answers(textOf(header(), "OBX|1|NM|?|?|~~~", "ZZZ", "garbage")).map(answeredWith)).toEqual(["AA 4711"]);
  });
});

describe("unreadable messages", () => {
  test.each([
    ["noise", "noise", "AR"],
    ["an empty frame", "", "AR"],
    ["another segment first", textOf("PID|1||D-77", header()), "AR 4711"],
    ["noise before MSH", `noise ${textOf(header())}`, "AR 4711"],
    ["invalid delimiters", "MSHA^~\\&ABC-5300", "AR"],
  ])("%s gets AR, with the id if there is one", (_, message, code) => {
    expect(answers(message).map(answeredWith)).toEqual([code]);
  });
});

describe("queries get the reply of their type, without an order", () => {
  test("QRY^Q02 gets QCK^Q02", () => {
    const query = textOf(header({ 9: "QRY^Q02" }), "QRD|2026|R|D|1|||RD|D-77|OTH|||T");
    expect(answers(query)[0]).toMatch(
      /\|QCK\^Q02\|.*<CR>MSA\|AA\|4711\|Message accepted\|\|\|0<CR>ERR\|0<CR>QAK\|SR\|NF<CR>$/,
    );
  });

  test.each([
    ["QBP^Q11^QBP_Q11", "RSP^K11^RSP_K11"],
    ["QBP^ZV1^QBP_ZV1", "RSP^ZV2^RSP_ZV2"],
  ])("%s gets %s", (asked, answered) => {
    const query = "QPD|WOS^Work Order Step^IHELAW|tag-1|D-77";
    const [reply = ""] = answers(textOf(header({ 9: asked, 12: "2.5.1" }), query, "RCP|I"));
    expect(reply).toContain(`|${answered}|`);
    expect(
      reply.endsWith(textOf("MSA|AA|4711|Message accepted", "QAK|tag-1|NF|WOS^Work Order Step^IHELAW", query)),
    ).toBe(true);
  });

  test("ORM^O01 gets ORR^O02 with AR, and in enhanced mode CA first", () => {
    const order = (more: Record<number, string>) => textOf(header({ 9: "ORM^O01", ...more }), "ORC|RF||D-77||IP");
    expect(answers(order({}))[0]).toMatch(
      /\|ORR\^O02\|.*<CR>MSA\|AR\|4711\|no order waits for this device\|\|\|204<CR>$/,
    );
    const both = answers(order({ 15: "AL", 16: "AL" }));
    expect(both.map(answeredWith)).toEqual(["CA 4711", "AR 4711"]);
    expect(both[0]).toContain("|ACK^O01|");
  });
});

describe("results and states", () => {
  test.each([
    ["ORU^R01", "ACK^R01"],
    ["OUL^R22", "ACK^R22"],
    ["OUL^R24", "ACK^R24"],
    ["ORU^R30", "ACK^R33"],
    ["ORU^R31", "ACK^R33"],
    ["ORU^R32", "ACK^R33"],
    ["ORU^R40", "ACK^R40"],
    ["OPU^R25", "ACK^R25"],
    ["UDM^Q05", "ACK^Q05"],
    ["ESU^U01", "ACK^U01"],
    ["INU^U05", "ACK^U05"],
    ["NMQ^N01", "NMR^N01"],
    ["ORU", "ACK"],
    ["oru^r01", "ACK^r01"],
  ])("%s gets %s", (type, expected) => {
    const [reply = ""] = answers(textOf(header({ 9: type })));
    expect([reply.split("|")[8], answeredWith(reply)]).toEqual([expected, "AA 4711"]);
  });
});
