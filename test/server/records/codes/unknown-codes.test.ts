import { describe, expect, test } from "vitest";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { CODES_MAX, type ListedCode, listUnknownCodes } from "../../../../server/records/codes/unknown-codes.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { type Measurement, resultsOf } from "../../../../shared/clinical/results.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import { clinic, keyPermissions, noon, startServer, study } from "../../harness.ts";

// Goal: the server lists what its agents' devices send and the catalogue does not know.

const ours = newFp("clinic");
const theirs = newFp("clinic");
const HOUR_MS = 3_600_000;
const [firstTime, nextTime] = ["2026-11-21T12:00:00.000Z", "2026-11-21T13:00:00.000Z"];

/** A row under the device's own code. A null value is one in words. */
function own(code: string, value: number | null, text: string, more: Partial<Measurement> = {}): Measurement {
  const plain = { comparator: null, ordinal: false, unit: null, device_range: null, device_flag: null };
  return { code, codeSource: "device", device_code: code, value, text, ...plain, ...more };
}

function sent(measurements: Measurement[], more: Partial<PushedStudy> = {}): PushedStudy {
  const { device_name, acquired_at } = study();
  return study({
    ...resultsOf(measurements, { signalment: null, instrument: device_name, acquired_at, ranges: null }),
    ...more,
  });
}

async function listServer() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const key = await server.makeKey(ours, keyPermissions);
  const idOf = async (fp: string) => (await findClinic(server.store, fp))?.id ?? 0;
  return {
    server,
    push: async (...studies: unknown[]) => (await server.push(key, ...studies)).map(({ outcome }) => outcome),
    list: async (fp: string = ours) => listUnknownCodes(server.store, await idOf(fp)),
  };
}

function listed(code: string, more: Partial<ListedCode> = {}): ListedCode {
  const times = { first_seen_at: firstTime, last_seen_at: firstTime };
  return {
    device_id: "chem-1",
    code,
    label: null,
    unit: null,
    value: null,
    studies: 1,
    ...times,
    ...more,
  };
}

describe("the list of unknown codes", () => {
  test("a pushed study adds its device's own codes, with name, unit, last value and count, and no other code", async () => {
    const { server, push, list } = await listServer();
    const known: Measurement = { ...own("ALT", 50, "50", { unit: "U/L" }) };
    const { codeSource: _c, device_code: _d, ...ofCatalogue } = known;
    const glu = { unit: "mmol/L", device_label: "Glucose" };
    expect(await push(sent([own("413", 5.2, "5.2", glu), ofCatalogue, own("CPV", null, "Positive")]))).toEqual([
      "unmatched",
    ]);
    server.clock.now = noon + HOUR_MS;
    // The label stays if a later study lacks it.
    await push(sent([own("413", 0.2, "<0.2", { unit: "mg/dL", comparator: "<" })]));
    expect(await list()).toEqual([
      listed("413", { label: "Glucose", unit: "mg/dL", value: "<0.2", studies: 2, last_seen_at: nextTime }),
      listed("CPV", { value: "Positive" }),
    ]);
  });

  test("a clinic's list has the codes of its own agents, by device", async () => {
    const { server, push, list } = await listServer();
    const theirKey = await server.makeKey(theirs, keyPermissions);
    await server.push(theirKey, sent([own("413", 1, "1")]));
    await push(sent([own("413", 2, "2")], { source: { device_id: "hema-1", message_id: "1" } }));
    await push(sent([own("413", 3, "3")]));
    const [chem, hema] = [listed("413", { value: "3" }), listed("413", { value: "2", device_id: "hema-1" })];
    const other = listed("413", { value: "1" });
    expect([await list(), await list(theirs)]).toEqual([[chem, hema], [other]]);
  });

  test("a study counts once for a code, however often it is pushed, corrected, or contains the code", async () => {
    const { push, list } = await listServer();
    const first = sent([own("413", 5.2, "5.2"), own("413", 5.3, "5.3")]);
    const late = sent([own("413", 5.4, "5.4"), own("500", 1, "1")], {
      fp: first.fp,
      dedupe_key: first.dedupe_key,
      revision: 2,
    });
    const contradicting = sent([own("777", 1, "1")], { fp: first.fp, dedupe_key: first.dedupe_key });
    expect(await push(first, first, late, contradicting, { ...sent([]), fp: "x" })).toEqual([
      "unmatched",
      "unmatched",
      "unmatched",
      "conflict",
      "rejected",
    ]);
    expect(await list()).toEqual([listed("413", { value: "5.4" }), listed("500", { value: "1" })]);
  });

  test("studies that arrive at the same time all count", async () => {
    const { push, list } = await listServer();
    const codes = Array.from({ length: 20 }, (_, index) => own(`C${index}`, index, String(index)));
    const studies = Array.from({ length: 8 }, (_, index) => sent(index % 2 === 0 ? codes : codes.toReversed()));
    await Promise.all(studies.map((each) => push(each)));
    expect((await list()).map((code) => code.studies)).toEqual(codes.map(() => 8));
  });

  test("a code leaves the list when a study shows that the clinic mapped it", async () => {
    const { push, list } = await listServer();
    const before = sent([own("413", 5.2, "5.2"), own("500", 1, "1")]);
    await push(before);
    const mapped: Measurement = {
      ...own("413", 5.2, "5.2", { unit: "mmol/L" }),
      code: "GLU",
      codeSource: "clinic",
    };
    const after = sent([mapped, own("500", 1, "1")], { fp: before.fp, dedupe_key: before.dedupe_key, revision: 2 });
    expect(await push(after)).toEqual(["unmatched"]);
    expect((await list()).map(({ code }) => code)).toEqual(["500"]);
  });

  test("a code leaves the list when a later catalogue has it and the study is read again", async () => {
    const { push, list } = await listServer();
    const before = sent([own("413", 5.2, "5.2"), own("500", 1, "1")]);
    await push(before);
    const { codeSource: _, ...known } = own("413", 5.2, "5.2", { unit: "mmol/L" });
    const after = sent([{ ...known, code: "GLU" }, own("500", 1, "1")], {
      fp: before.fp,
      dedupe_key: before.dedupe_key,
      revision: 2,
    });
    expect(await push(after)).toEqual(["unmatched"]);
    expect((await list()).map(({ code }) => code)).toEqual(["500"]);
  });

  test("a device has at most 1000 codes, and the code not seen for the longest time leaves", async () => {
    const { server, push, list } = await listServer();
    const many = Array.from({ length: CODES_MAX }, (_, index) => own(`C${index}`, index, String(index)));
    await push(sent([own("old", 1, "1")]));
    server.clock.now = noon + HOUR_MS;
    await push(sent(many.slice(0, 999)));
    expect(await list()).toHaveLength(1000);
    await push(sent(many.slice(999)));
    const codes = (await list()).map(({ code }) => code);
    expect([codes.length, codes.includes("old"), codes.includes("C999")]).toEqual([1000, false, true]);
  });

  test("a hostile code, name or text neither stops the push nor reaches the list as a long text", async () => {
    const { push, list } = await listServer();
    const remark = "the owner Ayşe Kaya asked to be called back today";
    const device_label = `${"x".repeat(150)}\u001b[2J\n`;
    const hostile = [
      own("=HYPERLINK(1)", null, remark, { device_label }),
      own("a\u0000b", 1, "1"),
      own("\ud800", 1, "1"),
      own(" ", 1, "1"),
    ];
    expect(await push(sent(hostile))).toEqual(["unmatched"]);
    const found = await list();
    expect(found).toHaveLength(4);
    expect(found.find(({ code }) => code === "=HYPERLINK(1)")).toEqual(
      listed("=HYPERLINK(1)", { label: device_label }),
    );
    expect(JSON.stringify(found)).not.toContain("Ayşe");
  });
});
