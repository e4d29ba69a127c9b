import { describe, expect, test } from "vitest";
import { joinRest } from "../../../../agent/protocols/astm/resumption.ts";

// After a line failure the sender continues at the first unacknowledged record, with its parents repeated (LIS02-A2 §4.2).

const H = "H|\\^&|||Analyzer^1|||||||P|LIS2-A2|20261121120000";
const LATER = H.replace("120000", "120130");
const P = "P|1|4711|||Aydin^Zeytin";
const O = "O|1|S-1||^^^Panel|R";
const O2 = "O|2|S-2||^^^Panel|R";
const R1 = "R|1|^^^ALT|52|U/L";
const R2 = "R|2|^^^CREA|1.0|mg/dL";
const R3 = "R|3|^^^GLU|95|mg/dL";
const L = "L|1|N";

const wire = (records: readonly string[], part = "") =>
  Buffer.from(`${records.map((record) => `${record}\r`).join("")}${part}`, "latin1");

function resumed(incomplete: Buffer, ...later: readonly string[]): string[] | null {
  const whole = joinRest(incomplete, wire([LATER, ...later]));
  return whole === null ? null : Buffer.from(whole).toString("latin1").split("\r").slice(0, -1);
}

const WHOLE = [H, P, O, R1, R2, R3, L];

describe("a cut message and its rest are joined, with repeated parents once", () => {
  test.each([
    ["cut between two results", wire([H, P, O, R1, R2]), [P, O, R3, L], WHOLE],
    ["cut within a result", wire([H, P, O, R1, R2], "R|3|^^^GLU|9"), [P, O, R3, L], WHOLE],
    ["the last result sent once more", wire([H, P, O, R1, R2]), [P, O, R2, R3, L], WHOLE],
    ["cut within a result, the one before sent once more", wire([H, P, O, R1, R2], "R|3|"), [P, O, R2, R3, L], WHOLE],
    ["cut after an order", wire([H, P, O, R1, O2]), [P, O2, R1, L], [H, P, O, R1, O2, R1, L]],
    ["going on with the next order", wire([H, P, O, R1]), [P, O2, R1, L], [H, P, O, R1, O2, R1, L]],
    ["no P at all", wire([H, O, R1, R2]), [O, R3, L], [H, O, R1, R2, R3, L]],
    [
      "an order without number of a patient that has one",
      wire([H, P, "O|1|", R1]),
      [P, "O|1|", R2, L],
      [H, P, "O|1|", R1, R2, L],
    ],
  ])("%s", (_, incomplete, later, whole) => {
    expect(resumed(incomplete, ...later)).toEqual(whole);
  });

  test("bytes stay unchanged in any charset", () => {
    const name = "P|1|4711|||M\xfcller";
    expect(resumed(wire([H, name, O, R1]), name, O, R2, L)).toEqual([H, name, O, R1, R2, L]);
  });
});

describe("a later message that may not be the rest is not joined", () => {
  test.each([
    ["another patient", wire([H, P, O, R1, R2]), [P.replace("4711", "4712"), O, R3, L]],
    ["another order", wire([H, P, O, R1, R2]), [P, O.replace("S-1", "S-9"), R3, L]],
    ["a result left out between", wire([H, P, O, R1]), [P, O, R3, L]],
    ["another value of the result that was cut", wire([H, P, O, R1], "R|2|^^^CREA|1.4"), [P, O, R2, L]],
    ["another value of the result sent once more", wire([H, P, O, R1, R2]), [P, O, R2.replace("1.0", "1.4"), R3, L]],
    ["no parents", wire([H, P, O, R1, R2]), [R3, L]],
    ["nothing but parents", wire([H, P, O, R1, R2]), [P, O]],
    ["animals without any number", wire([H, "P|1", "O|1|||^^^Panel", R1, R2]), ["P|1", "O|1|||^^^Panel", R3, L]],
    ["the next patient", wire([H, P, O, R1]), ["P|2|4712", O, R1, L]],
    ["nothing held but the header", wire([H]), [P, O, R1, L]],
    ["bytes that are not records", Buffer.from("noise"), [P, O, R1, L]],
  ])("%s", (_, incomplete, later) => {
    expect(resumed(incomplete, ...later)).toBeNull();
  });
});
