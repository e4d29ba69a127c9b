import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Profile } from "../../../agent/devices/profile.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import { Filing } from "../../../agent/study/filing.ts";
import type { StoredMessage } from "../../../agent/spool/queries/messages/message-row.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { duplicateKey } from "../../../agent/protocols/hl7/message/duplicate-key.ts";
import { bloodCount } from "../../support/protocols/hl7.ts";
import { scriptedServer } from "../../support/peers/scripted-server.ts";
import { useSpool, unprocessedMessages } from "../../support/spool.ts";
import { hl7Device } from "../../support/clinic/profiles.ts";

const mindrayBs = hl7Device("mindray-bs");
const genericHl7 = hl7Device("generic-hl7");

// Method: the test stores messages in a real spool as a connection does, and files them.

const used = useSpool();
const devices = new Map<string, Profile>([
  ["hema-1", genericHl7],
  ["chem-1", mindrayBs],
]);
let server: Awaited<ReturnType<typeof scriptedServer>>;
let filing: Filing;
let ordinal: number;

beforeEach(async () => {
  ordinal = 0;
  server = await scriptedServer(() => ({ status: 404 })); // the clinic has no patient, so all studies are unmatched
  const directory = new Directory(
    used.spool,
    createServerClient(server.url, () => "sk_live_test"),
  );
  const deviceById = (id: string) => ({ profile: devices.get(id)!, timeZone: "UTC", model: null });
  filing = new Filing(used.spool, directory, deviceById, {
    outcomeStored: () => undefined,
    fault: (_, error) => {
      throw error;
    },
  });
});

afterEach(async () => {
  await filing.idle();
  await server.close();
});

async function receive(
  device: string,
  segments: readonly string[],
  incomplete: string | null = null,
): Promise<string | null> {
  const bytes = Buffer.from(segments.map((segment) => `${segment}\r`).join(""));
  const profile = devices.get(device)!;
  const message: StoredMessage = {
    id: `M${ordinal}`,
    device,
    profile: profile.id,
    receivedAt: Date.UTC(2026, 11, 31) + ordinal,
    bytes,
    incomplete,
  };
  const id = await used.spool.call(
    "addMessage",
    { ...message, session: 1, ordinal: ordinal++ },
    duplicateKey(message, profile),
  );
  if (id !== null) await filing.accept({ ...message, id });
  return id;
}

/** @returns the latest revision of each study, with its analytes and values */
async function studies(): Promise<{ results: string; revision: number }[]> {
  const { batch } = await used.spool.call("takeQueued", 1_000, 10_000_000, 0);
  await used.spool.call("noteAnswered", batch);
  const latest = new Map(batch.map((study) => [study.fp, study]));
  return [...latest.values()].map(({ revision, body }) => {
    const { results } = JSON.parse(body) as { results: { analyte: string; value: number }[] };
    return { results: results.map(({ analyte, value }) => `${analyte} ${value}`).join(), revision };
  });
}

const listed = () => readSpool(used.folder, listMessages).map(({ id, state }) => [id, state]);

describe("a resent message", () => {
  const first = { id: "1", patient: "4711", measured: "20261121093000", wbc: 9.8 };

  test("a resend with another MSH-7 is the stored message", async () => {
    expect(await receive("hema-1", bloodCount(first))).toBe("M0");
    expect(await receive("hema-1", bloodCount(first))).toBe("M0");
    expect(await receive("hema-1", bloodCount({ ...first, sent: "20261121100000" }))).toBe("M0");
    expect(listed()).toEqual([["M0", "pending"]]);
    expect(await studies()).toEqual([{ results: "WBC 9.8,PLT 318", revision: 1 }]);
  });

  test("another body under the same id is a new message", async () => {
    await receive("hema-1", bloodCount(first));
    expect(await receive("hema-1", bloodCount({ ...first, patient: "4712" }))).toBe("M1");
    expect(await receive("hema-1", bloodCount({ ...first, wbc: 8.9 }))).toBe("M2");
    expect(listed()).toHaveLength(3);
    expect((await studies()).map(({ revision }) => revision)).toEqual([2, 1]);
  });

  test("a resend does not revert the change of a later message", async () => {
    await receive("hema-1", bloodCount(first));
    await receive("hema-1", bloodCount({ ...first, wbc: 8.9 }));
    expect(await receive("hema-1", bloodCount(first))).toBe(null);
    expect(await studies()).toEqual([{ results: "WBC 8.9,PLT 318", revision: 2 }]);
  });

  test("the same message of another device is another message", async () => {
    devices.set("hema-2", genericHl7);
    await receive("hema-1", bloodCount(first));
    expect(await receive("hema-2", bloodCount(first))).toBe("M1");
    expect(await studies()).toHaveLength(2);
  });

  test("the same results under another id are another message of the same study", async () => {
    await receive("hema-1", bloodCount(first));
    expect(await receive("hema-1", bloodCount({ ...first, id: "2" }))).toBe("M1");
    expect(await studies()).toEqual([{ results: "WBC 9.8,PLT 318", revision: 1 }]);
  });

  test("a message whose outcome a crash prevented is filed at the next start", async () => {
    await receive("hema-1", bloodCount(first));
    const before = (await unprocessedMessages(used.spool, "hema-1")).length;
    const bytes = Buffer.from(
      bloodCount(first)
        .map((segment) => `${segment}\r`)
        .join(""),
    );
    const again = { id: "X", device: "hema-1", profile: "generic-hl7", receivedAt: 9, bytes, incomplete: null };
    await used.spool.call("addMessage", { ...again, session: 9, ordinal: 0 }, duplicateKey(again, genericHl7));
    expect([before, (await unprocessedMessages(used.spool, "hema-1")).map(({ id }) => id)]).toEqual([0, ["M0"]]);
  });
});

describe("one test per message", () => {
  interface ChemistryTest {
    readonly name: string;
    readonly value: number;
    readonly at: string;
    readonly barcode?: string;
    readonly patient?: string;
    readonly number?: string;
  }
  const test1 = ({ name, value, at, barcode = "LAB-1", patient = "4711", number = "7" }: ChemistryTest) => [
    `MSH|^~\\&|Mindray|BS-200E|||${at}||ORU^R01|1|P|2.3.1||||0||ASCII`,
    `PID|1|${patient}`,
    `OBR|1|${barcode}|${number}|Mindray^BS-200E|Y`,
    `OBX|1|NM|2|${name}|${value}|${name === "ALT" ? "U/L" : "mg/dL"}|-||||F`,
  ];
  const alt = { name: "ALT", value: 52, at: "20261121100000" };
  const crea = { name: "CREA", value: 1.1, at: "20261121100200" };

  test("the tests of one sample within hours are one study, with a revision each", async () => {
    await receive("chem-1", test1(alt));
    await receive("chem-1", test1(crea));
    await receive("chem-1", test1({ name: "BUN", value: 20, at: "20261121180000" }));
    expect(await studies()).toEqual([{ results: "ALT 52,CREA 1.1,BUN 20", revision: 3 }]);
  });

  test("a late, earlier or repeated test joins the study of its sample", async () => {
    await receive("chem-1", test1(crea));
    await receive("chem-1", test1(alt));
    await receive("chem-1", test1({ ...alt, value: 54, at: "20261121110000" }));
    expect(await studies()).toEqual([{ results: "CREA 1.1,ALT 54", revision: 3 }]);
  });

  test("the same number on another day is another sample", async () => {
    await receive("chem-1", test1(alt));
    await receive("chem-1", test1({ ...alt, value: 60, at: "20261122080000" }));
    await receive("chem-1", test1({ ...crea, at: "20261122080300" }));
    expect((await studies()).map(({ results }) => results)).toEqual(["ALT 52", "ALT 60,CREA 1.1"]);
  });

  test("two patients, and two samples of one patient, never share a study", async () => {
    await receive("chem-1", test1(alt));
    await receive("chem-1", test1({ ...crea, patient: "4712" }));
    await receive("chem-1", test1({ ...crea, barcode: "LAB-2" }));
    expect((await studies()).map(({ results }) => results)).toEqual(["ALT 52", "CREA 1.1", "CREA 1.1"]);
  });

  test("the number of the device collects tests only together with a patient number", async () => {
    const own = { barcode: "", number: "7" };
    await receive("chem-1", test1({ ...alt, ...own }));
    await receive("chem-1", test1({ ...crea, ...own }));
    expect((await studies()).map(({ results }) => results)).toEqual(["ALT 52,CREA 1.1"]);
    await receive("chem-1", test1({ ...alt, ...own, patient: "", value: 99 }));
    await receive("chem-1", test1({ ...crea, ...own, patient: "" }));
    expect((await studies()).map(({ results }) => results)).toEqual(["ALT 52,CREA 1.1", "ALT 99", "CREA 1.1"]);
  });
});

describe("generic-hl7 collects one-test messages of one number", () => {
  const single = (name: string, value: number, at: string, timed = at) => [
    `MSH|^~\\&|LAB|V|||${at}||ORU^R01|${at}|P|2.3.1`,
    "PID|1||4711",
    `OBR|1|LAB-000123||X|||${timed}`,
    `OBX|1|NM|${name}||${value}|mg/dL|||||F|||${timed}`,
  ];
  const results = async () => (await studies()).map((study) => study.results);

  test("each point of a glucose curve is a study, also of equal value, and its resend is not", async () => {
    const curve = [
      single("GLU", 95, "20261121100000"),
      single("GLU", 240, "20261121103000"),
      single("GLU", 240, "20261121105000"),
    ];
    for (const point of [...curve, ...curve]) await receive("hema-1", point);
    expect(await results()).toEqual(["GLU 95", "GLU 240", "GLU 240"]);
  });

  test("a message that was filed before the device's messages were collected stays in its study", async () => {
    const { collectHours: _, ...uncollected } = genericHl7;
    devices.set("hema-1", uncollected);
    await receive("hema-1", single("GLU", 95, "20261121100000"));
    devices.set("hema-1", genericHl7);
    await receive("hema-1", single("GLU", 95, "20261121120000", "20261121100000"));
    await receive("hema-1", single("GLU", 97, "20261121130000", "20261121100000"));
    expect(await results()).toEqual(["GLU 97"]);
  });

  test("another test joins, and a correction with the time of its result replaces it", async () => {
    await receive("hema-1", single("GLU", 95, "20261121100000"));
    await receive("hema-1", single("CREA", 1.1, "20261121101000"));
    await receive("hema-1", single("CREA", 1.4, "20261121104000", "20261121101000"));
    expect(await results()).toEqual(["GLU 95,CREA 1.4"]);
  });

  test("without a time of its own, another value is another study and the same value a resend", async () => {
    await receive("hema-1", single("GLU", 95, "20261121100000", ""));
    await receive("hema-1", single("GLU", 95, "20261121101000", ""));
    await receive("hema-1", single("GLU", 97, "20261121102000", ""));
    expect(await results()).toEqual(["GLU 95", "GLU 97"]);
  });
});

test("a cut message is quarantined until a resend completes it", async () => {
  const whole = bloodCount({ id: "1", patient: "4711", measured: "20261121093000", wbc: 9.8 });
  await receive("hema-1", whole.slice(0, 3), "a new frame began before its end");
  expect(listed()).toEqual([["M0", "quarantined"]]);
  await receive("hema-1", bloodCount({ id: "2", patient: "4712", measured: "20261121094000", wbc: 7.1 }));
  expect(listed()[0]).toEqual(["M0", "quarantined"]);
  await receive("hema-1", whole);
  expect(listed()).toEqual([
    ["M0", "pending"],
    ["M1", "pending"],
    ["M2", "pending"],
  ]);
  expect((await studies()).map(({ results }) => results)).toEqual(["WBC 7.1,PLT 318", "WBC 9.8,PLT 318"]);
});
