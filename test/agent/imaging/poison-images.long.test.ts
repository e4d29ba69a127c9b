import { deflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { newestImageStudies } from "../../../agent/imaging/image-studies.ts";
import { DicomClient } from "../../../agent/imaging/archive/scu.ts";
import { COMMAND } from "../../../agent/protocols/dicom/dimse.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { playModality } from "../../../agent/tools/simulator/modality.ts";
import { CR_STORAGE, DEFLATED, JPEG, manyValues } from "../../support/protocols/dicom.ts";
import { blankJpeg } from "../../support/protocols/hostile-images.ts";
import { freePort, until } from "../../support/machine/processes.ts";
import { emptyServer, type TestAgent, useAgent } from "../../support/peers/running-agent.ts";
import type { ScriptedRequest, Step } from "../../support/peers/scripted-server.ts";

// Method: images that ended the agent are sent to a complete agent in this process, which must live.

let agent: TestAgent;
useAgent((created) => (agent = created));

const pictures: string[] = [];

function respond(request: ScriptedRequest): Step {
  const { url, body } = request;
  if (url === "/agent/v1/studies") {
    const { studies } = body as { studies: { fp: string }[] };
    return { status: 200, body: { outcomes: studies.map(({ fp }) => ({ fp, outcome: "filed", reason: null })) } };
  }
  if (!url.startsWith("/agent/v1/previews/")) return emptyServer(request);
  pictures.push(url);
  const [fp, position] = url.split("/").slice(-2);
  return { status: 200, body: { fp, position: Number(position), outcome: "stored", reason: null } };
}

/** Sends one object. @returns the status of the response */
async function store(port: number, transferSyntax: string, bytes: Buffer): Promise<number> {
  const client = await DicomClient.connect({
    address: { host: "127.0.0.1", port },
    calledAe: "VETWIRE",
    callingAe: "DX1",
    contexts: [{ id: 1, abstractSyntax: CR_STORAGE, transferSyntaxes: [transferSyntax] }],
  });
  const context = client.contextOf(CR_STORAGE, transferSyntax)!;
  const request = { field: COMMAND.cStoreRequest, sopClass: CR_STORAGE, sopInstance: "1.2.3.1" };
  const dataset = (async function* () {
    yield bytes;
  })();
  const { status } = await client.request(context, request, dataset);
  await client.release();
  return status;
}

test("an image and a header that need gigabytes end no agent; the picture is set aside, and others are drawn", async () => {
  const port = await freePort();
  await agent.run(
    [{ id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${port}` }, quietSeconds: 1 } as never],
    respond,
  );
  // Its study is in an unreadable header.
  expect(await store(port, DEFLATED, deflateRawSync(manyValues(60_000_000)))).not.toBe(0);
  expect(await store(port, JPEG, blankJpeg().bytes)).toBe(0);
  const images = () => readSpool(`${agent.folder}/data`, newestImageStudies).studies.flatMap(({ shown }) => shown);
  await until("the picture is set aside", () => images().some(({ fault }) => fault === "IMAGE.MEMORY"));
  const target = { address: { host: "127.0.0.1", port }, calledAe: "VETWIRE", callingAe: "DX1" };
  await playModality(target, ["cr"], { id: "1", name: "X^Rex", species: "dog" }, "20260504090000");
  await until("the picture of the other image", () => pictures.length === 1);
  const drawn = await fetch(
    `http://127.0.0.1:${agent.host.port}/local/v1/images/${images().find(({ fault }) => fault !== null)!.id}/preview`,
  );
  const refusal = (await drawn.json()) as { error: { code: string } };
  expect([drawn.status, refusal.error.code]).toEqual([422, "IMAGE.MEMORY"]);
}, 90_000);
