import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DEPTH_MAX,
  DOCUMENT_BYTES_MAX,
  DocumentSplitter,
  type SplitterEvent,
  UNENDED_BYTES_MAX,
} from "../../../../../agent/protocols/poct1/xml/document-splitter.ts";
import { XML } from "../wire.ts";

/** Returns the events, with bytes as text. */
function text(found: readonly SplitterEvent[]): unknown[] {
  return found.map((one) => ("bytes" in one ? { ...one, bytes: Buffer.from(one.bytes).toString("latin1") } : one));
}

function split(...chunks: readonly (string | Uint8Array)[]): unknown[] {
  const splitter = new DocumentSplitter();
  const found = chunks.flatMap((chunk) => splitter.receive(latin1(chunk)));
  return text([...found, ...splitter.close()]);
}

function latin1(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === "string" ? Buffer.from(chunk, "latin1") : chunk;
}

function whole(bytes: string): SplitterEvent {
  return { is: "document", bytes: bytes as unknown as Uint8Array, problem: null };
}

function junk(bytes: string): SplitterEvent {
  const noise = { bytes: bytes.length, head: Uint8Array.from(Buffer.from(bytes, "latin1")) };
  return { is: "junk", warning: { do: "warn", reason: `${bytes.length} bytes outside documents: ignored`, noise } };
}

const A = '<A.R01><HDR V="1"/></A.R01>';
const B = `${XML}<B.R01 V='2'></B.R01>`;

describe("end of a document", () => {
  test.each([
    ["a nested root of the same name", "<A><A/><A></A></A>"],
    ["a root that closes itself", '<A V="/"/>'],
    ["an end tag in a comment", "<A><!-- </A> -- > ' --></A>"],
    ["an end tag in CDATA", "<A><![CDATA[</A>]] ]>]]></A>"],
    ["an end tag in an attribute", `<A V="</A>" W='"></A>'/>`],
    ["a tag's end in an attribute", `<A V='>'><B W="/>">x</B></A>`],
    ["an end tag in an instruction", "<A><?note </A>?></A>"],
    ["a comment that starts with its end", "<A><!--></A>--></A>"],
    ["text with quotes", `<A>it's 5" long</A>`],
    ["spaces within tags", `<A V= "x"\n></A >`],
    ["a DOCTYPE with a subset", `<!DOCTYPE A [<!ENTITY e "></A>"><!ELEMENT A ANY>]><A>&e;</A>`],
    ["a comment before the root", "<!-- <A> --><A/>"],
  ])("%s", (_, document) => {
    expect(split(document, B)).toEqual([whole(document), whole(B)]);
  });

  test.each([
    ["nothing", ""],
    ["CR LF and indent", "\r\n\t  "],
    ["NUL padding", "\0\0\0"],
    ["a UTF-8 byte order mark", "\xef\xbb\xbf"],
    ["ETX", "\x03"],
  ])("%s between documents is ignored", (_, separator) => {
    expect(split(separator, A, separator, B, separator, A, separator)).toEqual([whole(A), whole(B), whole(A)]);
  });

  test("NUL and ETX within a document are removed", () => {
    expect(split('<A.R0\x001>\0<HDR V="1\x03"/></A.R01>\0')).toEqual([whole(A)]);
  });

  test("MLLP frames are removed, and set the framing of replies", () => {
    const splitter = new DocumentSplitter();
    const framed = `\n\x0b${A}\x1c\r\x0b${B}\x1c\r`;
    expect(text(splitter.receive(latin1(framed)))).toEqual([whole(A), whole(B)]);
    expect(splitter.framing).toBe("mllp");
    const raw = new DocumentSplitter();
    raw.receive(latin1(`${A}\x0b${A}`));
    expect(raw.framing).toBe("none");
  });

  test("other bytes between documents are counted once per run", () => {
    expect(split("GET / HTTP/1.1", "\r\n", A, A, "xy")).toEqual([junk("GET/HTTP/1.1"), whole(A), whole(A), junk("xy")]);
    expect(split("</A.R01>", A)).toEqual([junk("</A.R01>"), whole(A)]);
  });

  test.each([
    ["with a mark, little-endian", [0xff, 0xfe, 0x3c, 0x00]],
    ["with a mark, big-endian", [0xfe, 0xff, 0x00, 0x3c, 0x00, 0x3f]],
    ["without a mark", [0x3c, 0x00, 0x3f, 0x00]],
  ])("UTF-16 %s is refused", (_, begin) => {
    expect(split(Uint8Array.from(begin), A)).toEqual([
      { is: "hopeless", reason: "the stream is UTF-16, expected UTF-8" },
    ]);
  });
});

describe("a document that is cut short", () => {
  test.each([
    ["text", "<A.R01><B>te"],
    ["the root's tag", "<A.R0"],
    ["a tag", "<A.R01><B"],
    ["an attribute", '<A.R01><B V="x'],
    ["an end tag", "<A.R01><B></B"],
    ["a declaration", '<!DOCTYPE A [<!ENTITY e "'],
    ["an instruction", "<A.R01><?no"],
  ])("in %s, the next declaration starts a new document", (_, cut) => {
    const truncated = cut.startsWith("<!") ? [] : [{ is: "truncated", bytes: cut, by: "the next document" }];
    expect(split(cut, B, A)).toEqual([...truncated, whole(B), whole(A)]);
  });

  test("a declaration in a comment or CDATA starts no document", () => {
    const document = `<A><!-- ${XML} --><![CDATA[${XML}<B/>]]></A>`;
    expect(split(document, B)).toEqual([whole(document), whole(B)]);
  });

  test("the end of its MLLP frame cuts a document, and the next frame starts another", () => {
    expect(split("\x0b<A><B", "\x1c\r", `\x0b${A}\x1c\r`)).toEqual([
      { is: "truncated", bytes: "<A><B", by: "the end of its MLLP frame" },
      whole(A),
    ]);
    expect(split("\x0b<A><!--", `\x0b${A}\x1c\r`)).toEqual([
      { is: "truncated", bytes: "<A><!--", by: "the start of an MLLP frame" },
      whole(A),
    ]);
  });

  test("the end of the connection cuts a document", () => {
    expect(split(A, A.slice(0, -1))).toEqual([
      whole(A),
      { is: "truncated", bytes: A.slice(0, -1), by: "the end of the connection" },
    ]);
  });

  test.each([
    ["a declaration", B],
    ["a message's root", A],
    ["a root that closes itself", "<KPA.R01/>"],
    ["an MLLP frame", `\x0b${A}`],
  ])("after a gap, %s starts a document", (_, next) => {
    const splitter = new DocumentSplitter();
    splitter.receive(latin1("<A.R01><HDR.control_id"));
    splitter.gap();
    const rest = ' V="1"/><OBS.value V="2"/></A.R01>';
    const found = [...splitter.receive(latin1(rest)), ...splitter.receive(latin1(next)), ...splitter.close()];
    expect(text(found)).toEqual([whole(next.replace("\x0b", ""))]);
  });
});

describe("limits", () => {
  test("a document beyond the limit keeps its start, and the next one is found", () => {
    const long = `<A V="${"x".repeat(DOCUMENT_BYTES_MAX)}"/>`;
    expect(split(long, A)).toEqual([
      {
        is: "document",
        bytes: long.slice(0, DOCUMENT_BYTES_MAX),
        problem: "document of more than 1048576 bytes",
      },
      whole(A),
    ]);
    const longest = `<A V="${"x".repeat(DOCUMENT_BYTES_MAX - 9)}"/>`;
    expect(longest).toHaveLength(DOCUMENT_BYTES_MAX);
    expect(split(longest)).toEqual([whole(longest)]);
  });

  test("an attribute of 5 MB ends the stream at twice the limit", () => {
    const splitter = new DocumentSplitter();
    const found = splitter.receive(latin1(`<A V="${"x".repeat(5_000_000)}"/>${A}`));
    expect(found.map(({ is }) => is)).toEqual(["document", "hopeless"]);
    expect(found[1]).toEqual({ is: "hopeless", reason: `no end of the document within ${UNENDED_BYTES_MAX} bytes` });
    expect(splitter.receive(latin1(A))).toEqual([]);
  });

  test("elements nested 100 000 deep are counted without recursion", () => {
    const deep = (levels: number) => "<a>".repeat(levels) + "</a>".repeat(levels);
    const problem = `elements nested more than ${DEPTH_MAX} deep`;
    expect(split(deep(DEPTH_MAX))).toEqual([whole(deep(DEPTH_MAX))]);
    const tooDeep = (bytes: string) => [{ is: "document", bytes, problem }, whole(A)];
    expect(split(deep(DEPTH_MAX + 1), A)).toEqual(tooDeep(deep(DEPTH_MAX + 1)));
    expect(split(deep(100_000), A)).toEqual(tooDeep(deep(100_000)));
    const nameless = `${"<a>".repeat(DEPTH_MAX)}<></>${"</a>".repeat(DEPTH_MAX)}`;
    expect(split(nameless, A)).toEqual(tooDeep(nameless));
  });

  test("bytes before a document that is cut in its first tag are reported before it", () => {
    const truncated = { is: "truncated", bytes: '<A V="1', by: "the end of the connection" };
    expect(split('xyz<A V="1')).toEqual([junk("xyz"), truncated]);
  });
});

describe("segmentation", () => {
  const pieces = [
    A,
    B,
    XML,
    "<A>",
    "</A>",
    "<A V='",
    '"',
    "'",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<!DOCTYPE A [",
    "]>",
    "<?x ",
    "?>",
    "\0",
    "\x03",
    "\x0b",
    "\x1c\r",
    "\xef\xbb\xbf",
    "\r\n",
    "text",
    "<",
    ">",
    "/",
    "-",
    "]",
    "<?xml",
  ];
  const stream = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 15 }).map((some) => some.join(""));

  test("every stream gives the same documents in one chunk, byte by byte and in random cuts", () => {
    const property = fc.property(stream, fc.array(fc.nat({ max: 300 }), { maxLength: 8 }), (wire, places) => {
      const edges = [0, ...places.filter((at) => at < wire.length).toSorted((a, b) => a - b), wire.length];
      const cuts = edges.slice(1).map((edge, index) => wire.slice(edges[index], edge));
      expect(split(...cuts)).toEqual(split(wire));
      expect(split(...wire.split(""))).toEqual(split(wire));
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  test("no single cut of a session changes the documents", () => {
    const wire = `${B}\n${A}\0${B}\r\n<A><!-- </A> --></A>`;
    const found = split(wire);
    expect(found).toHaveLength(4);
    for (let at = 0; at <= wire.length; at++) expect(split(wire.slice(0, at), wire.slice(at))).toEqual(found);
  });
});
