import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { encodeFrame, ETX } from "../../agent/astm/frame.ts";
import { abaxisVetscanVs2 } from "../../agent/devices/abaxis-vetscan-vs2.ts";
import { genericAstm } from "../../agent/devices/generic-astm.ts";
import { profiles } from "../../agent/devices/index.ts";
import type { Profile } from "../../agent/devices/profile.ts";
import { type Replay, type ReplayedMessage, replay } from "../../agent/replay.ts";
import { dog } from "../make-fixtures.ts";
import { context, only, reportsOf } from "./records.ts";

// A cross-check over bytes of real wires. They stay outside the repository, so it is skipped where they are not.

const folder = fileURLToPath(new URL("../../../shared/captures/astm/", import.meta.url));
const present = existsSync(folder);
if (!present) process.stdout.write(`captures.test.ts is skipped: there is no ${folder}\n`);

const ENQ = "\x05";
const EOT = "\x04";

function capture(name: string): Buffer {
  return readFileSync(join(folder, name));
}

/** Some were logged without ENQ and EOT. */
function session(bytes: Buffer): Buffer {
  return bytes[0] === 0x05 ? bytes : Buffer.concat([Buffer.from(ENQ), bytes, Buffer.from(EOT)]);
}

function play(bytes: Uint8Array, profile: Profile): Replay {
  return replay([bytes], profile, context, dog);
}

function messageOf({ messages }: Replay): ReplayedMessage {
  return only(messages);
}

/** The frames' texts, each with its own CR. */
function texts(bytes: Buffer): string[] {
  const frames = bytes.toString("latin1").split("\x02").slice(1);
  return frames.map((frame) => frame.slice(1).split("\x03", 1)[0] ?? "");
}

/** Its frames again with other bytes in them and the checksums that these have. */
function reframed(bytes: Buffer, change: (text: string) => string): Buffer {
  const frames = texts(bytes).map((text, index) => encodeFrame(index + 1, Buffer.from(change(text), "latin1"), ETX));
  return Buffer.concat([Buffer.from(ENQ), ...frames, Buffer.from(EOT)]);
}

/** What the file prints of R: code, value, unit. */
function printed(bytes: Buffer): string[][] {
  return texts(bytes)
    .flatMap((text) => text.split("\r"))
    .filter((line) => line.startsWith("R|"))
    .map((line) => line.split("|").slice(2, 5));
}

describe.skipIf(!present)("field captures", () => {
  const vetscan = "abaxis-vetscan-vs2__dog-demo-and-qc.raw";

  test("VetScan's demo run is acknowledged frame by frame and not for patients", () => {
    const played = play(capture(vetscan), abaxisVetscanVs2);
    expect(played.replies).toBe("<ACK>".repeat(28));
    expect(messageOf(played).reading).toEqual({ is: "not-for-patients", reason: "demo or debug (H-12 is D)" });
  });

  test("the same run as production has the rows that the file prints, and none of its QC order", () => {
    const production = reframed(capture(vetscan), (text) => text.replace("|D|E 1394", "|P|E 1394"));
    const message = messageOf(play(production, abaxisVetscanVs2));
    const report = only(reportsOf(message.reading));
    const ofPatient = printed(capture(vetscan)).filter(([code = ""]) => !code.includes("IQC"));
    expect(report.rows.map(({ text, unit }) => [text, unit])).toEqual(
      ofPatient.map(([, value, unit]) => [value, unit]),
    );
    expect(report.rows.map(({ code }) => code)).toEqual(["ALT", "GLU", "BUN", "CREA", "NA", "K", "TCO2"]);
    expect(report).toMatchObject({
      identifier: "22222",
      otherIdentifiers: ["44444", "33333"],
      species: "dog",
      unmapped: [],
      leftOut: [],
    });
    expect(message.studies.flatMap(({ results }) => results.map(({ flag }) => flag))).toEqual(Array(7).fill("normal"));
    expect(message.reading).toMatchObject({ notes: ["order 2 is quality control: not for a patient"] });
  });

  test("VetScan's sign-on makes no study", () => {
    const message = messageOf(play(capture("abaxis-vetscan-vs2__sign-on.raw"), abaxisVetscanVs2));
    expect(message.reading).toEqual({ is: "not-for-patients", reason: "no results (sign-on or status)" });
  });

  test("Sysmex XP: codes in component 5, padded values, one study of hematology", () => {
    const bytes = capture("sysmex-xp100__one-frame.raw");
    const message = messageOf(play(session(bytes), genericAstm));
    const report = only(reportsOf(message.reading));
    expect(report).toMatchObject({
      modality: "HEMATOLOGY",
      device_name: "XP-100",
      identifier: null,
      unmapped: ["MXD%", "MXD#"],
      leftOut: [],
    });
    const mapped = printed(bytes).filter(([code = ""]) => !code.includes("MXD"));
    expect(report.rows.map(({ value, text }) => [value, text])).toEqual(
      mapped.map(([, value = ""]) => [Number(value), value.trim()]),
    );
    expect(report.rows.every(({ unit }) => unit !== null)).toBe(true);
  });

  test("cobas c311: a test number is no code of ours, so every one is listed and nothing is filed", () => {
    const message = messageOf(play(session(capture("cobas-c311__one-frame.raw")), genericAstm));
    expect(message.reading).toEqual({
      is: "quarantined",
      reason: "no result could be read: unmapped: 685, 687, 712, 158, 735, 717, 690",
    });
  });

  test("VITROS: its numeric codes are listed, its host query is one", () => {
    const results = play(capture("vitros-3600__results.raw"), genericAstm);
    expect(results.replies).toBe("<ACK>".repeat(8));
    expect(messageOf(results).reading).toEqual({
      is: "quarantined",
      reason: "no result could be read: unmapped: 1.0000+950+1.0, 1.0000+951+1.0, 1.0000+952+1.0",
    });
    const query = play(capture("vitros-3600__host-query.raw"), genericAstm);
    expect(messageOf(query).reading).toEqual({ is: "not-for-patients", reason: "host query" });
  });

  test("nothing of another protocol throws, and none of it becomes a study", () => {
    const others = ["skyla-", "arkray-", "fuji-", "mindray-"];
    const files = present ? readdirSync(folder).filter((file) => others.some((other) => file.startsWith(other))) : [];
    expect(files).toHaveLength(5);
    for (const file of files) {
      for (const profile of profiles) {
        for (const bytes of [capture(file), session(capture(file))]) {
          expect(play(bytes, profile).messages.flatMap(({ studies }) => studies)).toEqual([]);
        }
      }
    }
  });

  test("no capture is filed by a profile of another vendor's device", () => {
    const others = present ? readdirSync(folder).filter((file) => !file.startsWith("abaxis-")) : [];
    for (const file of others) {
      const { messages } = play(session(capture(file)), abaxisVetscanVs2);
      expect(messages.filter(({ reading }) => reading.is === "reports")).toEqual([]);
    }
  });
});
