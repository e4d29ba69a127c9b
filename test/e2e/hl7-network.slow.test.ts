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
    expect(verdict(await device.nextReply())).toBe("AA 1");
    await until("the agent closes the connection", () => device.isClosed);
    expect(await states("plain")).toEqual(["filed"]);
  });

  test("a message without CR after FS before a half-close is acknowledged, then the agent closes the connection", async () => {
    const device = await MllpClient.connect(ports.plain);
    device.send(frameOf(count("2", 1)).slice(0, -1));
    device.end();
    expect(verdict(await device.nextReply())).toBe("AA 2");
    await until("the agent closes the connection", () => device.isClosed);
  });

  test("a TLS device with a certificate gets its ACK, also after a half-close, and one without gets none", async () => {
    const ca = fs.readFileSync(certificates.ca);
    const { certificate, key } = certificates.device;
    const pem = { cert: fs.readFileSync(certificate), key: fs.readFileSync(key), ca };
    const device = await MllpClient.connect(ports.secured, pem);
    expect(verdict(await device.exchange(count("3")))).toBe("AA 3");
    device.send(frameOf(count("4", 1)));
    device.end();
    expect(verdict(await device.nextReply())).toBe("AA 4");
    expect(await states("secured")).toEqual(["filed", "filed"]);
    const unauthenticated = await MllpClient.connect(ports.secured, { ca }).catch(() => null);
    unauthenticated?.send(frameOf(count("5")));
    expect(await (unauthenticated?.nextReply(2_000) ?? null)).toBeNull();
    expect(await states("secured")).toEqual(["filed", "filed"]);
  });

  test("acknowledgements are sent on the device's reply connection", async () => {
    const device = await MllpClient.connect(ports.far);
    device.send(frameOf(count("6")));
    const replies = await MllpClient.connect(ports.replies);
    expect(verdict(await replies.nextReply())).toBe("AA 6");
    expect(await device.nextReply(100)).toBeNull();
    expect(await states("far")).toEqual(["filed"]);
    device.close();
    replies.close();
  });

  test("the agent dials a listening analyzer, and dials again after a disconnect", async () => {
    const first = await until("the agent dials", () => dialled[0]);
    const device = MllpClient.of(first);
    expect(verdict(await device.exchange(count("7")))).toBe("AA 7");
    device.close();
    const again = MllpClient.of(await until("the agent dials again", () => dialled[1]));
    expect(verdict(await again.exchange(count("8", 1)))).toBe("AA 8");
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
  const segmentsOf = (reply: string | null) => (reply ?? "").split("\r").map((text) => text.split("|"));
  const field = (reply: string | null, name: string, number: number) =>
    segmentsOf(reply).find(([segment]) => segment === name)?.[number];
  const acknowledge = (reply: string | null, type: string) =>
    frameOf([header(type, "900"), `MSA|AA|${field(reply, "MSH", 9)}|`]);

  async function sendQuery(segments: readonly string[], port = ports.plain) {
    const device = await MllpClient.connect(port);
    const from = performance.now();
    const reply = await device.exchange(segments);
    return { device, reply, ms: performance.now() - from };
  }

  test("QRY^Q02 gets QCK^Q02 and DSR^Q03 within 2 s, and the accession files the result to the patient", async () => {
    const accession = order("WBC,PLT");
    const { device, reply, ms } = await sendQuery([
      header("QRY^Q02", "11"),
      `QRD|20261121090000|R|D|1|||RD|${accession}|OTH|||T|`,
    ]);
    expect([field(reply, "MSH", 8), verdict(reply), field(reply, "QAK", 2)]).toEqual(["QCK^Q02", "AA 11", "OK"]);
    const display = await device.nextReply();
    expect(ms).toBeLessThan(2_000);
    const lines = segmentsOf(display).filter(([name]) => name === "DSP");
    expect([lines[20]![3], lines[28]![3], lines[29]![3]]).toEqual([accession, "WBC^^^", "PLT^^^"]);
    device.send(acknowledge(display, "ACK^Q03"));
    // The result has no patient number, as from many devices.
    const result = count("12").map((text) =>
      text.replace(/^(PID\|1\|\|)\d+/, "$1").replace("||S-1|", `||${accession}|`),
    );
    expect(verdict(await device.exchange(result))).toBe("AA 12");
    const filed = (await world.drained()).at(-1)!;
    expect(filed).toMatchObject({ state: "filed", reason: null });
    expect(await world.getStudy(filed.study_fps[0]!)).toMatchObject({
      body: { data: { patient_fp: world.patients[2]!.fp } },
    });
    device.close();
  });

  test("ORM^O01 gets ORR^O02, or AR for an unknown sample", async () => {
    const accession = order("WBC");
    const { device, reply, ms } = await sendQuery([header("ORM^O01", "13"), `ORC|RF||${accession}||IP`]);
    expect(ms).toBeLessThan(2_000);
    expect([field(reply, "MSH", 8), verdict(reply), field(reply, "ORC", 2)]).toEqual(["ORR^O02", "AA 13", accession]);
    expect(field(reply, "PID", 3)).toBe(`${world.patients[2]!.fp.slice("patient_".length)}^^^^MR`);
    expect(field(reply, "PID", 35)).toBe("dog");
    expect(verdict(await device.exchange([header("ORM^O01", "14"), "ORC|RF||1068687||IP"]))).toBe("AR 14");
    device.close();
  });

  test("QBP^Q11 gets RSP^K11 and then OML^O33, which is resent if the device rejects it", async () => {
    const accession = order("WBC");
    const query = [header("QBP^Q11^QBP_Q11", "15", "2.5.1"), `QPD|WOS^Work Order Step^IHELAW|t1|${accession}`];
    const { device, reply, ms } = await sendQuery(query);
    expect(ms).toBeLessThan(2_000);
    expect([field(reply, "MSH", 8), field(reply, "QAK", 1), field(reply, "QAK", 2)]).toEqual([
      "RSP^K11^RSP_K11",
      "t1",
      "OK",
    ]);
    const pushed = await device.nextReply();
    expect([field(pushed, "MSH", 8), field(pushed, "SAC", 3)]).toEqual(["OML^O33^OML_O33", accession]);
    device.send(frameOf([header("ORL^O34", "16", "2.5.1"), `MSA|AE|${field(pushed, "MSH", 9)}`]));
    const again = await device.nextReply(8_000);
    expect(again).toBe(pushed);
    device.send(frameOf([header("ORL^O34", "17", "2.5.1"), `MSA|AA|${field(pushed, "MSH", 9)}`]));
    expect(await device.nextReply(500)).toBeNull();
    device.close();
  });

  test("a Vcheck H6 gets DSR^Q03 and, without an acknowledgement, QCK^Q02 within 2 s", async () => {
    const accession = order("CBC,RET", "h6");
    const query = [header("QRY^Q02", "21"), `QRD|20261121090000|R|D|1|||RD|${accession}|OTH|||T|`];
    const { device, reply } = await sendQuery(query, ports.h6);
    const from = performance.now();
    expect(field(await device.nextReply(), "MSH", 8)).toBe("QCK^Q02");
    expect(performance.now() - from).toBeLessThan(2_000);
    const lines = segmentsOf(reply).filter(([name]) => name === "DSP");
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
    expect(verdict(await device.nextReply())).toBe("AA 18");
    await until("the agent closes the connection", () => device.isClosed);
  });

  test("every query is listed as not for patients", async () => {
    const messages = (await world.drained()).filter(({ device }) => device === "plain");
    expect(messages.map(({ state }) => state).filter((state) => state !== "filed")).toEqual(
      Array.from({ length: 8 }, () => "not-for-patients"),
    );
  });
});
