import fs from "node:fs";
import net from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Certificates, makeCertificates } from "../support/certificates.ts";
import { bloodCount, frameOf, MllpClient, verdict } from "../support/hl7.ts";
import { freePort, runAgentCommand, until, World } from "../support/processes.ts";

// Goal: HL7 analyzers work over every kind of connection and get their orders. Method: processes of agent and server.

let world: World;
let certificates: Certificates;
let analyzer: net.Server;
/** Connections of the agent to the analyzer that listens. */
const dialled: net.Socket[] = [];
const ports = { plain: 0, secured: 0, far: 0, replies: 0, analyzer: 0, h6: 0 };

beforeAll(async () => {
  world = await World.create(4);
  certificates = makeCertificates(world.folder);
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort();
  analyzer = net.createServer({ noDelay: true }, (socket) => {
    socket.on("error", () => undefined);
    dialled.push(socket);
  });
  await new Promise<void>((resolve) => analyzer.listen(ports.analyzer, "127.0.0.1", resolve));
  const tls = { certificate: "agent.crt", key: "agent.pem", ca: "authority.crt" };
  const listen = (port: number) => ({ listen: `127.0.0.1:${port}` });
  world.writeConfig([
    { id: "plain", profile: "generic-hl7", connection: listen(ports.plain) },
    { id: "secured", profile: "generic-hl7", connection: listen(ports.secured), tls, allow: ["127.0.0.1"] },
    { id: "far", profile: "generic-hl7", connection: { ...listen(ports.far), replyConnection: listen(ports.replies) } },
    { id: "dialled", profile: "generic-hl7", connection: { dial: `127.0.0.1:${ports.analyzer}` } },
    { id: "h6", profile: "bionote-vcheck-h6", connection: listen(ports.h6) },
  ]);
  await world.startAgent();
});

afterAll(async () => {
  analyzer.close();
  for (const socket of dialled) socket.destroy();
  await world.end();
});

const count = (id: string, patient = 0) =>
  bloodCount({ id, patient: world.patients[patient]!.externalId, measured: "20261120093000", wbc: 5.1 });

const states = async (device: string) =>
  (await world.drained()).filter((message) => message.device === device).map(({ state }) => state);

describe("connections", () => {
  test("a message before a half-close is acknowledged and filed, then the agent closes the connection", async () => {
    const device = await MllpClient.connect(ports.plain);
    device.send(frameOf(count("1")));
    device.end();
    expect(verdict(await device.answer())).toBe("AA 1");
    await until("hung up", () => device.isClosed);
    expect(await states("plain")).toEqual(["filed"]);
  });

  test("a message without CR after FS before a half-close is acknowledged, then the agent closes the connection", async () => {
    const device = await MllpClient.connect(ports.plain);
    device.send(frameOf(count("2", 1)).slice(0, -1));
    device.end();
    expect(verdict(await device.answer())).toBe("AA 2");
    await until("hung up", () => device.isClosed);
  });

  test("a TLS device with a certificate gets its ACK, also after a half-close, and one without gets none", async () => {
    const ca = fs.readFileSync(certificates.ca);
    const { certificate, key } = certificates.device;
    const pem = { cert: fs.readFileSync(certificate), key: fs.readFileSync(key), ca };
    const device = await MllpClient.connect(ports.secured, pem);
    expect(verdict(await device.ask(count("3")))).toBe("AA 3");
    device.send(frameOf(count("4", 1)));
    device.end();
    expect(verdict(await device.answer())).toBe("AA 4");
    expect(await states("secured")).toEqual(["filed", "filed"]);
    const unauthenticated = await MllpClient.connect(ports.secured, { ca }).catch(() => null);
    unauthenticated?.send(frameOf(count("5")));
    expect(await (unauthenticated?.answer(2_000) ?? null)).toBeNull();
    expect(await states("secured")).toEqual(["filed", "filed"]);
  });

  test("acknowledgements are sent on the device's reply connection", async () => {
    const device = await MllpClient.connect(ports.far);
    device.send(frameOf(count("6")));
    const replies = await MllpClient.connect(ports.replies);
    expect(verdict(await replies.answer())).toBe("AA 6");
    expect(await device.answer(100)).toBeNull();
    expect(await states("far")).toEqual(["filed"]);
    device.close();
    replies.close();
  });

  test("the agent dials a listening analyzer, and dials again after a disconnect", async () => {
    const first = await until("the agent dials", () => dialled[0]);
    const device = MllpClient.of(first);
    expect(verdict(await device.ask(count("7")))).toBe("AA 7");
    device.close();
    const again = MllpClient.of(await until("the agent dials again", () => dialled[1]));
    expect(verdict(await again.ask(count("8", 1)))).toBe("AA 8");
    expect(await states("dialled")).toEqual(["filed", "filed"]);
  });
});

describe("orders", () => {
  const order = (tests: string, device = "plain") =>
    runAgentCommand(
      "order",
      "--config",
      world.config,
      "--device",
      device,
      "--patient",
      world.patients[2]!.fp,
      "--tests",
      tests,
    ).trim();
  const header = (type: string, id: string, version = "2.3.1") =>
    `MSH|^~\\&|HEMA-1|Vendor|||20261121090000||${type}|${id}|P|${version}||||||UNICODE`;
  const segmentsOf = (answer: string | null) => (answer ?? "").split("\r").map((text) => text.split("|"));
  const field = (answer: string | null, name: string, number: number) =>
    segmentsOf(answer).find(([segment]) => segment === name)?.[number];
  const acknowledge = (answer: string | null, type: string) =>
    frameOf([header(type, "900"), `MSA|AA|${field(answer, "MSH", 9)}|`]);

  async function sendQuery(segments: readonly string[], port = ports.plain) {
    const device = await MllpClient.connect(port);
    const from = performance.now();
    const answer = await device.ask(segments);
    return { device, answer, ms: performance.now() - from };
  }

  test("QRY^Q02 gets QCK^Q02 and DSR^Q03 within 2 s, and the accession files the result to the patient", async () => {
    const accession = order("WBC,PLT");
    const { device, answer, ms } = await sendQuery([
      header("QRY^Q02", "11"),
      `QRD|20261121090000|R|D|1|||RD|${accession}|OTH|||T|`,
    ]);
    expect([field(answer, "MSH", 8), verdict(answer), field(answer, "QAK", 2)]).toEqual(["QCK^Q02", "AA 11", "OK"]);
    const display = await device.answer();
    expect(ms).toBeLessThan(2_000);
    const lines = segmentsOf(display).filter(([name]) => name === "DSP");
    expect([lines[20]![3], lines[28]![3], lines[29]![3]]).toEqual([accession, "WBC^^^", "PLT^^^"]);
    device.send(acknowledge(display, "ACK^Q03"));
    // The result has no patient number, as from many devices.
    const result = count("12").map((text) =>
      text.replace(/^(PID\|1\|\|)\d+/, "$1").replace("||S-1|", `||${accession}|`),
    );
    expect(verdict(await device.ask(result))).toBe("AA 12");
    const filed = (await world.drained()).at(-1)!;
    expect(filed).toMatchObject({ state: "filed", reason: null });
    expect(await world.getStudy(filed.study_fps[0]!)).toMatchObject({
      body: { data: { patient_fp: world.patients[2]!.fp } },
    });
    device.close();
  });

  test("ORM^O01 gets ORR^O02, or AR for an unknown sample", async () => {
    const accession = order("WBC");
    const { device, answer, ms } = await sendQuery([header("ORM^O01", "13"), `ORC|RF||${accession}||IP`]);
    expect(ms).toBeLessThan(2_000);
    expect([field(answer, "MSH", 8), verdict(answer), field(answer, "ORC", 2)]).toEqual([
      "ORR^O02",
      "AA 13",
      accession,
    ]);
    expect(field(answer, "PID", 3)).toBe(`${world.patients[2]!.fp.slice("patient_".length)}^^^^MR`);
    expect(field(answer, "PID", 35)).toBe("dog");
    expect(verdict(await device.ask([header("ORM^O01", "14"), "ORC|RF||1068687||IP"]))).toBe("AR 14");
    device.close();
  });

  test("QBP^Q11 gets RSP^K11 and then OML^O33, which is resent if the device rejects it", async () => {
    const accession = order("WBC");
    const query = [header("QBP^Q11^QBP_Q11", "15", "2.5.1"), `QPD|WOS^Work Order Step^IHELAW|t1|${accession}`];
    const { device, answer, ms } = await sendQuery(query);
    expect(ms).toBeLessThan(2_000);
    expect([field(answer, "MSH", 8), field(answer, "QAK", 1), field(answer, "QAK", 2)]).toEqual([
      "RSP^K11^RSP_K11",
      "t1",
      "OK",
    ]);
    const pushed = await device.answer();
    expect([field(pushed, "MSH", 8), field(pushed, "SAC", 3)]).toEqual(["OML^O33^OML_O33", accession]);
    device.send(frameOf([header("ORL^O34", "16", "2.5.1"), `MSA|AE|${field(pushed, "MSH", 9)}`]));
    const again = await device.answer(8_000);
    expect(again).toBe(pushed);
    device.send(frameOf([header("ORL^O34", "17", "2.5.1"), `MSA|AA|${field(pushed, "MSH", 9)}`]));
    expect(await device.answer(500)).toBeNull();
    device.close();
  });

  test("a Vcheck H6 gets DSR^Q03 and, without an acknowledgement, QCK^Q02 within 2 s", async () => {
    const accession = order("CBC,RET", "h6");
    const query = [header("QRY^Q02", "21"), `QRD|20261121090000|R|D|1|||RD|${accession}|OTH|||T|`];
    const { device, answer } = await sendQuery(query, ports.h6);
    const from = performance.now();
    expect(field(await device.answer(), "MSH", 8)).toBe("QCK^Q02");
    expect(performance.now() - from).toBeLessThan(2_000);
    const lines = segmentsOf(answer).filter(([name]) => name === "DSP");
    expect([11, 18, 28, 29, 30].map((index) => lines[index]![3])).toEqual([
      accession,
      "0",
      "CBC^CBC^1",
      "",
      "RET^RET^1",
    ]);
    device.close();
  });

  test("a device that half-closes after its query gets the response", async () => {
    const accession = order("WBC");
    const device = await MllpClient.connect(ports.plain);
    device.send(frameOf([header("ORM^O01", "18"), `ORC|RF||${accession}||IP`]));
    device.end();
    expect(verdict(await device.answer())).toBe("AA 18");
    await until("hung up", () => device.isClosed);
  });

  test("every query is listed as not for patients", async () => {
    const messages = (await world.drained()).filter(({ device }) => device === "plain");
    expect(messages.map(({ state }) => state).filter((state) => state !== "filed")).toEqual(
      Array.from({ length: 8 }, () => "not-for-patients"),
    );
  });
});
