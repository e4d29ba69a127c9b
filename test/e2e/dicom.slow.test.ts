import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GeneratedInstance, generatedFile, generateInstance } from "../../agent/generated-study.ts";
import { imageFile } from "../../agent/image-store.ts";
import { dcmtk, run } from "../support/dcmtk.ts";
import { freePort, until, World } from "../support/processes.ts";

// Goal: images reach the API, bit-exact and by the right name. Method: DCMTK's programs send to an agent that is a process of
// its own; its files and its server are looked at.

let world: World;
let port: number;

beforeAll(async () => {
  if (!dcmtk) return;
  world = await World.create(4);
  port = await freePort();
  world.writeConfig([
    {
      ...{ id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${port}` } },
      ...{ aeTitle: "VETWIRE", callingAeTitles: ["DX1"], quietSeconds: 1 },
    },
  ]);
  await world.startAgent();
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

describe.skipIf(!dcmtk)("images", () => {
  test("an echo is answered, by the names that are configured only", async () => {
    expect(await run("echoscu", ...peer())).toEqual({ ok: true, output: "" });
    const stranger = await run("echoscu", "-aet", "DX2", "-aec", "VETWIRE", "127.0.0.1", String(port));
    expect(stranger.output).toContain("Calling AE Title Not Recognized");
    const wrong = await run("echoscu", "-aet", "DX1", "-aec", "OTHER", "127.0.0.1", String(port));
    expect(wrong.output).toContain("Called AE Title Not Recognized");
  });

  test("a stored image is kept bit-exact and becomes a study that GET returns", async () => {
    const dog = world.patients[0]!;
    const instance = generateInstance("cr", study(1, { id: dog.externalId, name: "Rex", species: "Hund" }), 1);
    expect(await run("storescu", ...peer(), fileOf(instance))).toEqual({ ok: true, output: "" });
    const [message] = world.messages();
    const kept = fs.readFileSync(imageFile(world.agentData, message!.id));
    expect(kept.subarray(-instance.dataset.length).equals(instance.dataset)).toBe(true);

    const [filed] = await until("the study is filed", () => {
      const messages = world.messages();
      return messages.every(({ state }) => state === "filed") ? messages : null;
    });
    const [fp] = filed!.study_fps;
    expect(await world.getStudy(fp!)).toEqual({
      status: 200,
      body: {
        success: true,
        data: {
          ...{
            fp,
            patient_fp: dog.fp,
            modality: "RADIOLOGY",
            device_name: "Vetwire Simulated CR",
            status: "COMPLETED",
          },
          ...{ acquired_at: "2026-11-21T07:15:00.000Z", results: [] },
        },
      },
    });
  });
});
