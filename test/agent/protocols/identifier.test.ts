import { expect, test } from "vitest";
import { identifier, isControlName, sent } from "../../../agent/protocols/field-text.ts";

test.each(["0", "000", "-", ".", "^0", "^^", '""', "  "])("the identifier %j names nobody", (text) => {
  expect([identifier(text), sent({ raw: () => text }, 3)]).toEqual(["", ""]);
});

test.each(["4711", "01", " ö ", "A-0", "100"])("the identifier %j names somebody", (text) => {
  expect([identifier(text), sent({ raw: () => text }, 3)]).toEqual([text.trim(), text]);
});

test.each(["QC-12340801", "qc1", "CTRL N", "Control 2", "CONTROLE", "BMM 371 CONTROLE", "low control", "Control-High"])(
  "%j names control material",
  (text) => expect(isControlName(text)).toBe(true),
);

test.each(["4711", "Zeytin", "S-QCX", "uncontrolled", "Control Rex", "Controlla", "Rex control", "control diet", ""])(
  "%j names no control material",
  (text) => {
    expect(isControlName(text)).toBe(false);
  },
);
