import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { imageFile } from "../../../agent/imaging/files/image-folder.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { type GeneratedInstance, generateInstance } from "../../../agent/tools/simulator/generated-study.ts";
import { listImages } from "../../../agent/imaging/catalogue.ts";
import { dcmtk, run } from "../../support/protocols/dcmtk.ts";
import { generatedFile } from "../../support/runner/generated-file.ts";
import { freePort, runAgentCommand, until, World } from "../../support/machine/processes.ts";

// Goal: images reach the API bit-exact and with the right patient. Method: DCMTK's programs send to an agent process. The test
// checks the files of the agent and the studies of the server.

let world: World;
let port: number;

beforeAll(async () => {
  if (!dcmtk) return;
  world = await World.create(4);
  port = await freePort();
  world.writeConfig([
    {
      id: "xray",
      profile: "dicom",
      connection: { listen: `127.0.0.1:${port}` },
      aeTitle: "VETWIRE",
      callingAeTitles: ["DX1"],
      quietSeconds: 1,
    },
  ]);
  await world.startAgent();
  await world.waitForPatients();
});

afterAll(() => world?.end());

const peer = () => ["-aet", "DX1", "-aec", "VETWIRE", "127.0.0.1", String(port)];
const study = (number: number, patient: { id: string; name: string; species: string }) => ({
  patient,
  uid: `1.2.826.0.1.3680043.9.9999.${number}`,
  at: "20261121101500",
});

function fileOf(instance: GeneratedInstance): string {
  const file = path.join(world.folder, `${instance.sopInstance}.dcm`);
  fs.writeFileSync(file, generatedFile(instance));
  return file;
}

/** Sends instances. @returns their messages once all are settled */
async function stored(...instances: readonly GeneratedInstance[]) {
  const before = new Set(world.messages().map(({ id }) => id));
  expect(await run("storescu", ...peer(), ...instances.map(fileOf))).toEqual({ ok: true, output: "" });
  const fresh = world.messages().filter(({ id }) => !before.has(id));
  return settled(fresh.map(({ id }) => id));
}

function settled(ids: readonly string[]) {
  return until("the messages are settled", () => {
    const messages = world.messages().filter(({ id }) => ids.includes(id));
    const due = readSpool(world.agentData, (db) =>
      db.prepare("SELECT COUNT(*) FROM pending_image_study").pluck().get(),
    );
    return due === 0 && messages.every(({ state }) => state !== "pending") ? messages : null;
  });
}

describe.skipIf(!dcmtk)("DCMTK as modality", () => {
  test("C-ECHO succeeds between the configured AE titles only", async () => {
    expect(await run("echoscu", ...peer())).toEqual({ ok: true, output: "" });
    const unknown = await run("echoscu", "-aet", "DX2", "-aec", "VETWIRE", "127.0.0.1", String(port));
    expect(unknown.output).toContain("Calling AE Title Not Recognized");
    const wrong = await run("echoscu", "-aet", "DX1", "-aec", "OTHER", "127.0.0.1", String(port));
    expect(wrong.output).toContain("Called AE Title Not Recognized");
  });

  test("a stored image is kept bit-exact and becomes a study of the API", async () => {
    const dog = world.patients[0]!;
    const instance = generateInstance("cr", study(1, { id: dog.externalId, name: "Rex", species: "Hund" }), 1);
    const [filed] = await stored(instance);
    const kept = fs.readFileSync(imageFile(world.agentData, filed!.id));
    expect(kept.subarray(-instance.dataset.length).equals(instance.dataset)).toBe(true);
    expect(await run("dcmdump", "-q", "+P", "0002,0016", imageFile(world.agentData, filed!.id))).toMatchObject({
      ok: true,
      output: expect.stringContaining("[DX1]"),
    });
    expect(filed!.state).toBe("filed");
    const [fp] = filed!.study_fps;
    expect(await world.getStudy(fp!)).toEqual({
      status: 200,
      body: {
        success: true,
        data: {
          fp,
          patient_fp: dog.fp,
          modality: "RADIOLOGY",
          device_name: "Vetwire Simulated CR",
          status: "COMPLETED",
          acquired_at: "2026-11-21T07:15:00.000Z",
          results: [],
          study_instance_uid: "1.2.826.0.1.3680043.9.9999.1",
        },
      },
    });
  });

  test("measurements of ultrasound join the study of its images, and a late image raises its revision", async () => {
    const cat = world.patients[1]!;
    const heart = study(2, { id: cat.externalId, name: "Mia", species: "Feline" });
    const [image] = await stored(generateInstance("us", heart, 1), generateInstance("sr", heart, 1));
    const [fp] = image!.study_fps;
    const measured = [
      { analyte: "LVIDd", value: 3.85, unit: "cm" },
      { analyte: "EF", value: 64, unit: "%" },
      { analyte: "LA/Ao", value: 1.31, unit: null },
    ].map((result) => ({ ...result, reference_range: null, flag: null }));
    expect((await world.getStudy(fp!)).body).toMatchObject({
      data: { fp, patient_fp: cat.fp, modality: "ULTRASOUND", results: measured },
    });
    expect(runAgentCommand("explain", fp!, "--config", world.config)).toContain(
      "LVIDd  3.85  cm  no range  no flag  = Left Ventricle Internal End Diastolic Dimension (Left Ventricle)  printed 3.85",
    );
    const revision = () => world.serverStudies().find((held) => held.fp === fp)?.revision;
    // A machine so slow that a second passes between image and report makes a revision of each.
    const before = revision() ?? 0;

    const [late] = await stored(generateInstance("us", heart, 2));
    expect(late).toMatchObject({ state: "filed", study_fps: [fp] });
    expect(revision()).toBe(before + 1);

    // A repeated image makes no message and no file.
    const count = world.messages().length;
    expect(await stored(generateInstance("us", heart, 2))).toEqual([]);
    expect(world.messages()).toHaveLength(count);
    expect(fs.readdirSync(path.join(world.agentData, "images"))).toHaveLength(count);
  });

  test("an image of another animal under the UID of a filed study does not come into its record", async () => {
    const [dog, cat] = [world.patients[0]!, world.patients[1]!];
    const rex = study(20, { id: dog.externalId, name: "Rex", species: "Canine" });
    const [filed] = await stored(generateInstance("us", rex, 1));
    const [fp] = filed!.study_fps;
    const before = await world.getStudy(fp!);
    const mia = { ...rex, patient: { id: cat.externalId, name: "Mia", species: "Canine" } };
    const [late] = await stored(generateInstance("us", mia, 2));
    expect(late).toMatchObject({ state: "quarantined", study_fps: [fp] });
    expect(late!.reason).toContain("the identifiers name 2 patients");
    expect(await world.getStudy(fp!)).toEqual(before);
    const pictures = readSpool(world.agentData, (db) =>
      db.prepare("SELECT COUNT(*) FROM preview WHERE message = ?").pluck().get(late!.id),
    );
    expect(pictures).toBe(0);
  });

  test("datasets of every transfer syntax of DCMTK are kept unchanged", async () => {
    const dog = world.patients[2]!;
    const plain = fileOf(generateInstance("cr", study(6, { id: dog.externalId, name: "Rex", species: "dog" }), 1));
    const converted = ["+ti", "+tb", "+td"].map((option) => [option, `${plain}${option}`] as const);
    for (const [option, file] of converted)
      expect(await run("dcmconv", option, plain, file)).toMatchObject({ ok: true });
    const before = world.messages().length;
    for (const [option, file] of converted) {
      const propose = { "+ti": "-xi", "+tb": "-xb", "+td": "-xd" }[option]!;
      expect(await run("storescu", ...peer().slice(0, 4), propose, ...peer().slice(4), file)).toEqual({
        ok: true,
        output: "",
      });
    }
    const kept = await settled(
      world
        .messages()
        .slice(before)
        .map(({ id }) => id),
    );
    expect(kept.map(({ state }) => state)).toEqual(["filed", "filed", "filed"]);
    for (const [index, { id }] of kept.entries()) {
      const dump = (file: string) =>
        run("dcmdump", "-q", "+P", "0008,0018", "+P", "0010,0020", "+P", "7fe0,0010", "+L", file);
      expect((await dump(imageFile(world.agentData, id))).output).toBe((await dump(converted[index]![1])).output);
    }
  });

  /** Generates images of the n-th study, of a dog. */
  const imagesOf = (number: number, count: number) => {
    const dog = study(number, { id: world.patients[0]!.externalId, name: "Rex", species: "dog" });
    return Array.from({ length: count }, (_, nth) => generateInstance("cr", dog, nth + 1));
  };

  test("images of dcmsend are kept in their transfer syntaxes", async () => {
    const folder = path.join(world.folder, "to-send");
    fs.mkdirSync(folder);
    const [plain, rle, jpeg] = imagesOf(11, 3).map((instance) => {
      const file = fileOf(instance);
      fs.renameSync(file, path.join(folder, path.basename(file)));
      return path.join(folder, path.basename(file));
    }) as [string, string, string];
    expect(await run("dcmcrle", rle, rle)).toMatchObject({ ok: true });
    expect(await run("dcmcjpeg", "+eb", jpeg, jpeg)).toMatchObject({ ok: true });
    const sent = await run("dcmsend", "-dn", "+sd", ...peer(), folder);
    expect(sent).toMatchObject({ ok: true });
    const pixels = (file: string) =>
      run("dcmdump", "-q", "+P", "0002,0010", "+P", "0008,0018", "+P", "7fe0,0010", "+L", file);
    const kept = readSpool(world.agentData, (db) => listImages(db, study(11, { id: "", name: "", species: "" }).uid));
    const dumps = await Promise.all(kept.map(({ id }) => pixels(imageFile(world.agentData, id))));
    const expected = await Promise.all([plain, rle, jpeg].map(pixels));
    expect(dumps.map(({ output }) => output).toSorted()).toEqual(expected.map(({ output }) => output).toSorted());
  });
});
