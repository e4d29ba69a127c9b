import { afterAll, beforeAll, expect, test } from "vitest";
import { encodeBccText } from "../../agent/protocols/proprietary/bcc-link.ts";
import { type SimulatorLine, openLine } from "../../agent/tools/simulator/line.ts";
import { playDevice } from "../../agent/tools/simulator/analyzer.ts";
import { fujiRecord, fujiTest } from "../fuji-fixtures.ts";
import { freePort, runAgentCommand, World } from "../support/processes.ts";

// Goal: an analyzer with a text layout queries an order from the command line, and its result is filed by the accession alone.
// Method: processes of server, agent and command line. The test is the analyzer on a TCP connection.

let world: World;
let line: SimulatorLine;

beforeAll(async () => {
  world = await World.create(2);
  const port = await freePort();
  world.writeConfig([{ id: "chem-1", profile: "fuji-dri-chem-nx", connection: { listen: `127.0.0.1:${port}` } }]);
  await world.startAgent();
  line = await openLine(`tcp://127.0.0.1:${port}`);
});

afterAll(async () => {
  await line.close();
  await world.end();
});

const frameOf = (text: string) => encodeBccText(Buffer.from(text, "latin1"));

/** Sends a query. @returns the agent's frame, and the milliseconds until its first byte */
async function answerTo(query: string, length: number): Promise<{ readonly frame: Uint8Array; readonly ms: number }> {
  const from = performance.now();
  await playDevice(frameOf(query), line);
  const bytes: number[] = [];
  let ms = 0;
  while (bytes.length < length) {
    const byte = await line.reply(5_000);
    if (byte === null) throw new Error(`expected ${length} bytes, got ${bytes.length}`);
    if (bytes.length === 0) ms = performance.now() - from;
    bytes.push(byte);
  }
  return { frame: Uint8Array.from(bytes), ms };
}

test("a queried and measured sample is filed to its patient by the accession alone", async () => {
  const patient = world.patients[0]!.fp;
  const options = ["--config", world.config, "--device", "chem-1", "--patient", patient];
  const accession = runAgentCommand("order", ...options, "--tests", "GLU,GPT").trim();
  const columns = [accession.padEnd(13), " ".repeat(13), "Test animal".padEnd(13), "02", "GLU     ", "GPT     "];
  const expected = frameOf(`W,${columns.join(",")}`);
  const { frame, ms } = await answerTo(`W,${accession.padEnd(13)}`, expected.length);
  expect(Buffer.from(frame)).toEqual(Buffer.from(expected));
  expect(ms).toBeLessThan(2_000);

  const slides = [
    fujiTest("GLU-PS", "5.31", "mmol/l"),
    fujiTest("GPT-PS", "****", "ukat/l"),
    fujiTest("XYZ-PS", "7", "U/l"),
  ];
  await playDevice(frameOf(fujiRecord(slides, { number: accession, id: "", name: "" })), line);
  const [query, result] = await world.drained();
  expect(query).toMatchObject({ state: "not-for-patients", reason: "a query for orders (W)", study_fps: [] });
  expect(result).toMatchObject({ state: "filed" });
  expect(await world.getStudy(result!.study_fps[0]!)).toMatchObject({
    status: 200,
    body: {
      data: {
        patient_fp: patient,
        results: [
          { analyte: "GLU", value: 5.31 },
          { analyte: "XYZ", value: 7 },
        ],
      },
    },
  });
});
