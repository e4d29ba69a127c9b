import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { profileById } from "../../../agent/devices/index.ts";
import { openBytes } from "../../../agent/maker/open.ts";
import { messageTree, nodeAt, nodesOf } from "../../../agent/maker/tree.ts";

const bytesOf = (text: string) => Buffer.from(text);

describe("the tree of a message", () => {
  test("HL7 numbers its fields as the standard does, and each node has its bytes", () => {
    const bytes = bytesOf("MSH|^~\\&|LAB^X|\rPID|1||4711^^^MR||Ayşe^Zeytin\rOBX|1|NM|WBC||9.8|10*9/L||N~A\r");
    const tree = messageTree(bytes, "hl7")!;
    expect(tree.children.map(({ place }) => place)).toEqual(["MSH", "PID", "OBX"]);
    const [header, patient, row] = tree.children as [typeof tree, typeof tree, typeof tree];
    expect([nodeAt(header, "MSH-2")?.text, nodeAt(header, "MSH-3.1")?.text]).toEqual(["^~\\&", "LAB"]);
    expect([nodeAt(patient, "PID-3.1")?.text, nodeAt(patient, "PID-5.1")?.text]).toEqual(["4711", "Ayşe"]);
    expect([nodeAt(row, "OBX-3.1")?.text, nodeAt(row, "OBX-3.2")]).toEqual(["WBC", null]);
    expect(nodeAt(row, "OBX-8")?.children.map(({ kind, text }) => [kind, text])).toEqual([
      ["repeat", "N"],
      ["repeat", "A"],
    ]);
    const name = nodeAt(patient, "PID-5.2")!;
    expect(bytes.subarray(name.from, name.to).toString()).toBe("Zeytin");
  });

  test("ASTM numbers its fields with the type as the first", () => {
    const tree = messageTree(bytesOf("H|\\^&|||ACME^X1\rP|1|4711\rR|1|^^^ALT|143|U/L\rL|1|N\r"), "astm")!;
    expect(tree.children.map(({ place }) => place)).toEqual(["H", "P", "R", "L"]);
    expect(nodeAt(tree.children[0]!, "H-5.1")?.text).toBe("ACME");
    expect([nodeAt(tree.children[2]!, "R-3.4")?.text, nodeAt(tree.children[2]!, "R-4")?.text]).toEqual(["ALT", "143"]);
  });

  test("a line of HL7 that starts no segment continues the one before", () => {
    const tree = messageTree(bytesOf("MSH|^~\\&|\rNTE|1||one\nmore words\rOBX|1\r"), "hl7")!;
    expect(tree.children.map(({ place, text }) => [place, text])).toEqual([
      ["MSH", "MSH|^~\\&|"],
      ["NTE", "NTE|1||one\nmore words"],
      ["OBX", "OBX|1"],
    ]);
  });

  test("text without a header has no tree", () => {
    expect([messageTree(bytesOf("hello"), "hl7"), messageTree(bytesOf(""), "astm")]).toEqual([null, null]);
  });

  // The texts of fields contain neither line ends nor the separator, whatever the charset.
  test.each(globSync("fixtures/{generic-hl7,generic-astm,abaxis-vetscan-vs2,boule-exigo,biosystems-ba}/*.{hl7,astm}"))(
    "the nodes of %s cover their records byte by byte",
    (file) => {
      const { protocol, messages } = openBytes(readFileSync(file), (of) => profileById(`generic-${of}`));
      for (const bytes of messages) {
        const tree = messageTree(bytes, protocol!)!;
        for (const node of nodesOf(tree)) {
          expect(node.from).toBeLessThanOrEqual(node.to);
          let at = node.from;
          for (const child of node.children) {
            expect(child.from).toBeGreaterThanOrEqual(at);
            at = child.to;
          }
          expect(at).toBeLessThanOrEqual(node.to);
          const end = node.kind === "record" ? (node.children.at(-1)?.to ?? node.to) : node.to;
          expect(end).toBe(node.to);
        }
      }
    },
  );
});
