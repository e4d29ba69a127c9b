import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bloodCount, frameOf, MllpClient, verdict } from "../support/hl7.ts";
import { freePort, studyResponse, World } from "../support/processes.ts";

// Goal: an HL7 message becomes JSON of the read API. Method: processes of server and agent.

let world: World;
let device: MllpClient;

beforeAll(async () => {
  world = await World.create(2);
  const port = await freePort();
  world.writeConfig([{ id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } }]);
  await world.startAgent();
  device = await MllpClient.connect(port);
});

afterAll(async () => {
  device.close();
  await world.end();
});

const measured = "20261120093000";

describe("an HL7 analyzer's message becomes a study that the read API serves", () => {
  test("ORU^R01 is acknowledged, and the API returns its results with the flags of a dog", async () => {
    const [dog] = world.patients;
    const reply = await device.exchange(bloodCount({ id: "1", patient: dog!.externalId, measured, wbc: 5.1 }));
    expect(verdict(reply)).toBe("AA 1");
    const fp = await world.firstFiled("hema-1");
    expect(await world.getStudy(fp)).toEqual(
      studyResponse({
        fp,
        patient_fp: dog!.fp,
        modality: "HEMATOLOGY",
        device_name: "HEMA-1",
        acquired_at: "2026-11-20T06:30:00.000Z", // 09:30 in Istanbul
        results: [
          { analyte: "WBC", value: 5.1, unit: "10*9/L", reference_range: "4.74-12.47", flag: "normal" },
          { analyte: "PLT", value: 318, unit: "10*9/L", reference_range: "167-480", flag: "normal" },
        ],
      }),
    );
  });

  test("a resent message is acknowledged again and filed once, even with another MSH-7", async () => {
    const [dog] = world.patients;
    const again = { id: "1", patient: dog!.externalId, measured, wbc: 5.1 };
    expect(verdict(await device.exchange(bloodCount(again)))).toBe("AA 1");
    expect(verdict(await device.exchange(bloodCount({ ...again, sent: "20261120100000" })))).toBe("AA 1");
    expect(await world.drained()).toHaveLength(1);
    expect(world.serverStudies()).toMatchObject([{ revision: 1 }]);
  });

  test("a corrected value under the same MSH-10 is a new message and a new revision", async () => {
    const [dog] = world.patients;
    expect(verdict(await device.exchange(bloodCount({ id: "1", patient: dog!.externalId, measured, wbc: 25.1 })))).toBe(
      "AA 1",
    );
    const messages = await world.drained();
    expect(messages).toHaveLength(2);
    expect(new Set(messages.flatMap(({ study_fps }) => study_fps)).size).toBe(1);
    expect(world.serverStudies()).toMatchObject([{ revision: 2, results: [{ analyte: "WBC", value: 25.1 }, {}] }]);
  });

  test("the same results under another MSH-10 are a new message of the same study", async () => {
    const [dog] = world.patients;
    await device.exchange(bloodCount({ id: "2", patient: dog!.externalId, measured, wbc: 25.1 }));
    expect(await world.drained()).toHaveLength(3);
    expect(world.serverStudies()).toMatchObject([{ revision: 2 }]);
  });

  test("an unreadable message gets AR, is stored, and does not stop the connection", async () => {
    const [, cat] = world.patients;
    device.send(frameOf(["noise"]));
    expect(verdict(await device.nextReply())).toBe("AR");
    expect(verdict(await device.exchange(bloodCount({ id: "3", patient: cat!.externalId, measured, wbc: 7 })))).toBe(
      "AA 3",
    );
    const messages = await world.drained();
    expect(messages.slice(-2).map(({ state, reason }) => [state, reason])).toEqual([
      ["quarantined", 'the first segment is "noise", expected MSH'],
      ["filed", null],
    ]);
  });
});
