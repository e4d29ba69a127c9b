import { expect, test } from "vitest";
import { playModality } from "../../../agent/tools/simulator/modality.ts";
import type { StudyKind } from "../../../agent/tools/simulator/generated-study.ts";
import { splitPng } from "../../../server/records/results/png-frames.ts";
import { readPngSize } from "../../../server/records/results/png-size.ts";
import { freePort, until } from "../../support/machine/processes.ts";
import { emptyServer, type TestAgent, useAgent } from "../../support/peers/running-agent.ts";
import type { ScriptedRequest, Step } from "../../support/peers/scripted-server.ts";

// Method: the simulator sends images to a complete agent. A scripted server takes the study and responds to the pictures.

let agent: TestAgent;
useAgent((created) => (agent = created));

interface Taken {
  readonly path: string;
  readonly png: Buffer;
}

/** Runs an agent whose server responds to each picture with the next step, at last always with 200. @returns the pictures */
async function send(kinds: readonly StudyKind[], ...steps: (Step | ((url: string) => Step))[]): Promise<Taken[]> {
  const taken: Taken[] = [];
  let hasStudy = false;
  const respond = (request: ScriptedRequest): Step => {
    const { url, body } = request;
    if (url === "/agent/v1/studies") {
      hasStudy = true;
      const { studies } = body as { studies: { fp: string }[] };
      return { status: 200, body: { outcomes: studies.map(({ fp }) => ({ fp, outcome: "filed", reason: null })) } };
    }
    if (!url.startsWith("/agent/v1/previews/")) return emptyServer(request);
    expect(hasStudy).toBe(true);
    taken.push({ path: url, png: body as Buffer });
    const step = steps.shift() ?? outcomeOf;
    return typeof step === "function" ? step(url) : step;
  };
  const port = await freePort();
  const device = { id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${port}` }, quietSeconds: 1 };
  await agent.run([device], respond);
  const target = { address: { host: "127.0.0.1", port }, calledAe: "VETWIRE", callingAe: "DX1" };
  await playModality(target, kinds, { id: "1", name: "X^Rex", species: "dog" }, "20260504090000");
  return taken;
}

/** Names the picture of a path, as the server does. */
function outcomeOf(url: string, outcome = "stored"): Step {
  const [fp, position] = url.split("/").slice(-2);
  return { status: 200, body: { fp, position: Number(position), outcome, reason: outcome === "stored" ? null : "no" } };
}

function notFound(code: string): Step {
  return { status: 404, body: { success: false, error: { code, message: "no" } } };
}

const positions = (taken: readonly Taken[]) => taken.map(({ path }) => Number(path.split("/").at(-1)));

test("the first twelve images of an acknowledged study are sent as small pictures", async () => {
  const taken = await send(Array.from({ length: 14 }, () => "cr" as const));
  await until("all pictures", () => taken.length === 12);
  expect(positions(taken)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  for (const { png } of taken) expect(readPngSize(png)).toHaveProperty("width");
  expect(new Set(taken.map(({ path }) => path.split("/").at(-2))).size).toBe(1);
});

test("a clip is sent with its frames in one picture", async () => {
  const taken = await send(["us"]);
  await until("the clip", () => taken.length === 1);
  const clip = splitPng(taken[0]!.png);
  if ("problem" in clip) throw new Error(clip.problem);
  expect(clip.frames).toHaveLength(8);
  expect(clip.frames[0]!.equals(clip.frames[1]!)).toBe(false);
});

test("a report without a picture is left out, and a failed picture is sent again", async () => {
  const taken = await send(["cr", "sr", "cr"], { status: 503, body: {} });
  await until("three requests", () => taken.length === 3);
  // The failed one comes after the others.
  const [first, ...others] = positions(taken);
  expect([others.includes(first ?? 0), new Set(others).size]).toEqual([true, 2]);
});

test("a picture that the server refuses by name stops no other", async () => {
  const taken = await send(["cr", "cr"], (url) => outcomeOf(url, "rejected"));
  await until("two requests", () => taken.length === 2);
  expect(positions(taken)).toEqual([1, 2]);
});

test.each([
  ["a missing record", notFound("RECORD.NOT_FOUND")],
  ["another program's success", { status: 200, body: {} }],
  ["another picture", outcomeOf("/agent/v1/previews/cds_other/1")],
])("after a response about %s the picture is sent again", async (_, step) => {
  const taken = await send(["cr"], step);
  await until("two requests", () => taken.length === 2);
  expect(positions(taken)).toEqual([1, 1]);
});

test("an older server gets no further picture, and counts as reached", async () => {
  const taken = await send(["cr", "cr"], notFound("ROUTE.NOT_FOUND"));
  await until("a request", () => taken.length === 1);
  await agent.serverIn("reached");
  expect(agent.status().outbox.depth).toBe(0);
  await agent.stop();
  expect(taken.length).toBe(1);
});
