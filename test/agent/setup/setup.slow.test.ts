import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SetupAnswer, SetupStep } from "../../../agent/page/types/setup.ts";
import { encodeAssociateRequest } from "../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { Setup } from "../../../agent/setup/setup.ts";
import { playDevice } from "../../../agent/tools/simulator/analyzer.ts";
import { playHl7Device } from "../../../agent/tools/simulator/hl7.ts";
import { openLine, type SimulatorLine } from "../../../agent/tools/simulator/line.ts";
import { playPoct1Device } from "../../../agent/tools/simulator/poct1.ts";
import { fixturesFolder } from "../../support/runner/fixtures.ts";
import { associateRequest, CR_STORAGE, EXPLICIT } from "../../support/protocols/dicom.ts";
import { freePort, until } from "../../support/machine/processes.ts";
import { type Cable, isOpen, newCable, socat } from "../../support/machine/pty.ts";
import { type TestAgent, useAgent } from "../../support/peers/running-agent.ts";
import { LISTENING_TIMES } from "../../../agent/setup/listening.ts";

// Goal: the set-up adds devices to a running agent by listening, and no result is acknowledged before it is stored. Method: the
// real set-up with a real agent, and simulated devices over sockets and serial cables.

let agent: TestAgent;
useAgent((made) => {
  agent = made;
});

const TIMES = { ...LISTENING_TIMES, quietMs: 250 };
const noPairing = () => Promise.reject(new Error("no pairing in this test"));
const fixture = (name: string) => fs.readFileSync(path.join(fixturesFolder, name));

/** Starts an agent without devices, and its set-up. */
async function started(times = TIMES): Promise<Wizard> {
  await agent.run([]);
  const setup = new Setup(agent.host, noPairing, times);
  onTestFinished(() => setup.stop());
  return new Wizard(setup);
}

/** A user who looks at a step and answers it. */
class Wizard {
  readonly setup: Setup;

  constructor(setup: Setup) {
    this.setup = setup;
  }

  /** Answers the shown step. @returns null, or what is wrong */
  async answer(answer: SetupAnswer): Promise<string | null> {
    const { turn } = await this.setup.view();
    return this.setup.answer(turn, answer);
  }

  /** Answers the shown step. @throws if the answer is refused */
  async say(answer: SetupAnswer): Promise<void> {
    const fault = await this.answer(answer);
    if (fault !== null) throw new Error(fault);
  }

  /** Waits until a step is shown. */
  on<At extends SetupStep["at"]>(at: At): Promise<Extract<SetupStep, { at: At }>> {
    return until(at, async () => {
      const { step } = await this.setup.view();
      return step.at === at ? (step as Extract<SetupStep, { at: At }>) : null;
    });
  }
}

async function line(to: string): Promise<SimulatorLine> {
  const opened = await openLine(to);
  onTestFinished(() => opened.close());
  return opened;
}

async function cable(): Promise<Cable> {
  const made = await newCable(agent.folder);
  onTestFinished(() => made.pull());
  return made;
}

describe.skipIf(!socat)("over a serial cable", () => {
  test("a VetScan is recognised by its header, saved, and its next result is filed", async () => {
    const wizard = await started();
    const [port, device] = (await cable()).ends;
    await wizard.say({ to: "line", line: { kind: "serial", path: port } });
    await until("the port is open", () => isOpen(port));
    const vetscan = fixture("abaxis-vetscan-vs2/dog.astm");
    const unheard = await line(`serial:${device}`);
    const refused = playDevice(vetscan, unheard);
    const { candidates, advice } = await wizard.on("heard");
    expect(candidates.map(({ profile, setting, score }) => [profile, setting, score])).toEqual([
      ["abaxis-vetscan-vs2", "9600 8N1", 95],
      ["generic-astm", "9600 8N1", 90],
    ]);
    expect(advice).toEqual([]);

    // The bytes name the device, so another profile needs the user's word.
    const general = { to: "heard", profile: "generic-astm", candidate: 0, anyway: false } as const;
    expect(await wizard.answer(general)).toContain(
      "this looks like Abaxis VetScan VS2 (abaxis-vetscan-vs2), not generic-astm",
    );
    await wizard.say({ ...general, profile: "abaxis-vetscan-vs2" });
    const { id, callers, allow } = await wizard.on("device");
    expect([id, callers, allow]).toEqual(["abaxis-vetscan-vs2-1", false, []]);
    await wizard.say({ to: "device", id: "vetscan", allow: [] });
    expect(agent.host.agent?.config.devices).toEqual([
      {
        id: "vetscan",
        profile: "abaxis-vetscan-vs2",
        connection: { serial: { path: port, baudRate: 9600, dataBits: 8, parity: "none", stopBits: 1 } },
      },
    ]);
    // No frame was acknowledged while the set-up listened, so the device still has its result.
    await unheard.close();
    expect(await refused).toMatchObject({ accepted: false, frames: 0 });

    await agent.deviceIn("connected");
    expect((await wizard.on("first")).message).toBeNull();
    const again = await playDevice(vetscan, await line(`serial:${device}`));
    expect(again).toMatchObject({ accepted: true });
    const first = await until("the first message", async () => (await wizard.on("first")).message);
    expect(first.looksLike).toBeNull();
    expect(first.studies[0]).toMatchObject({ device_name: "Abaxis VetScan VS2", patient: null });
    expect(first.studies[0]?.results.length).toBe(7);
    const code = await until("the code of its reason", async () => (await wizard.on("first")).message?.code);
    expect(code).toMatch(/^MATCH\./);
    await wizard.say({ to: "first", next: "another" });
    expect((await wizard.on("line")).at).toBe("line");
    expect(await wizard.answer({ to: "line", line: { kind: "serial", path: port } })).toContain(
      "belongs to the device vetscan",
    );
  });

  test("bytes at a wrong speed prompt for the result again, with the next speed", async () => {
    const wizard = await started();
    const [port, device] = (await cable()).ends;
    await wizard.say({ to: "line", line: { kind: "serial", path: port } });
    await until("the port is open", () => isOpen(port));
    const simulator = await line(`serial:${device}`);
    simulator.send(Uint8Array.from({ length: 60 }, (_, at) => 0x80 + ((at * 37) % 120)));
    const listening = await until("the next speed", async () => {
      const { step } = await wizard.setup.view();
      return step.at === "listening" && step.unread.length > 0 ? step : null;
    });
    expect([listening.unread, listening.setting]).toEqual([["9600 8N1"], "19200 8N1"]);
    // Bytes that meet the change of speed are lost, so the person sends once more.
    const heard = wizard.on("heard");
    const sending = setInterval(() => simulator.send(fixture("arkray-spotchem-ez/multi.astm")), 1000);
    onTestFinished(() => clearInterval(sending));
    const { candidates } = await heard;
    clearInterval(sending);
    expect(candidates[0]).toMatchObject({ profile: "arkray-spotchem-ez", setting: "19200 8N1", score: 95 });
    await wizard.say({ to: "heard", profile: "arkray-spotchem-ez", candidate: 0, anyway: false });
    const { studies } = await wizard.on("device");
    expect(studies[0]?.results.length).toBeGreaterThan(3);
  });

  test("silence ends with what to check, and the profile can be chosen by hand", async () => {
    const wizard = await started({ ...TIMES, silenceMs: 500 });
    const [port] = (await cable()).ends;
    await wizard.say({ to: "line", line: { kind: "serial", path: port } });
    const { advice, candidates, profiles } = await wizard.on("heard");
    expect(candidates).toEqual([]);
    expect(advice).toEqual(["cable", "nullModem", "sendingOff", "again"]);
    expect(profiles.map(({ profile }) => profile)).not.toContain("dicom");
    await wizard.say({ to: "heard", profile: "skyla", candidate: -1, anyway: false });
    await wizard.say({ to: "device", id: "skyla-1", allow: [] });
    expect(agent.host.agent?.config.devices).toEqual([
      { id: "skyla-1", profile: "skyla", connection: { serial: { path: port } } },
    ]);
  });
});

test("a port that cannot be opened is reported with the reason", async () => {
  const wizard = await started();
  await wizard.say({ to: "line", line: { kind: "serial", path: "/dev/no-such-port" } });
  expect((await wizard.on("heard")).problem).toContain("no such port /dev/no-such-port");
  await wizard.say({ to: "heard", again: true });
  await wizard.on("heard");
  await wizard.say({ to: "back" });
  await wizard.on("line");
});

test("an HL7 device shows its study before it is saved, and only its address may send", async () => {
  const wizard = await started();
  const port = await freePort();
  await wizard.say({ to: "line", line: { kind: "listen", port } });
  await wizard.on("listening");
  const message = fs.readdirSync(path.join(fixturesFolder, "mindray-bc")).find((name) => name.endsWith(".hl7"));
  const hl7 = fixture(`mindray-bc/${message}`);
  const refused = playHl7Device(hl7, await line(`tcp://127.0.0.1:${port}`), () => undefined);
  const { candidates } = await wizard.on("heard");
  expect(candidates[0]).toMatchObject({ profile: "mindray-bc", caller: "127.0.0.1", protocol: "HL7 over MLLP" });
  expect(await refused).toMatchObject({ accepted: false });
  await wizard.say({ to: "heard", profile: "mindray-bc", candidate: 0, anyway: false });
  const { studies, allow, id } = await wizard.on("device");
  expect(allow).toEqual(["127.0.0.1"]);
  expect(studies[0]?.results.length).toBeGreaterThan(5);
  expect(await wizard.answer({ to: "device", id, allow: [] })).toContain("no address may send");
  expect(await wizard.answer({ to: "device", id: "Blut 1", allow: [...allow] })).toContain("use small letters");
  expect(await wizard.answer({ to: "device", id, allow: ["here"] })).toContain("expected an address or network");
  await wizard.say({ to: "device", id, allow: [...allow] });
  expect((await wizard.on("first")).place).toBe(`127.0.0.1:${port}`);
  const sent = await playHl7Device(hl7, await line(`tcp://127.0.0.1:${port}`), () => undefined);
  expect(sent).toMatchObject({ accepted: true });
  await until("the first message", async () => (await wizard.on("first")).message);
});

test("a message of another profile is reported, and a changed profile reads it again", async () => {
  const wizard = await started();
  const port = await freePort();
  await wizard.say({ to: "line", line: { kind: "listen", port } });
  await wizard.say({ to: "listening", stop: true });
  await wizard.on("heard");
  await wizard.say({ to: "heard", profile: "skyla", candidate: -1, anyway: false });
  await wizard.say({ to: "device", id: "chem", allow: ["127.0.0.1"] });
  await playDevice(fixture("abaxis-vetscan-vs2/dog.astm"), await line(`tcp://127.0.0.1:${port}`));
  const wrong = await until("the first message", async () => (await wizard.on("first")).message);
  expect(wrong).toMatchObject({ looksLike: { profile: "abaxis-vetscan-vs2" }, studies: [] });
  await until("its quarantine", async () => (await wizard.on("first")).message?.state === "quarantined");
  await wizard.say({ to: "first", profile: "abaxis-vetscan-vs2" });
  const { message, profile } = await wizard.on("first");
  expect(profile.profile).toBe("abaxis-vetscan-vs2");
  expect(message?.state).not.toBe("quarantined");
  expect([message?.looksLike, message?.studies.length]).toEqual([null, 1]);
});

test("a POCT1-A device is recognised by its HELLO", async () => {
  const wizard = await started();
  const port = await freePort();
  await wizard.say({ to: "line", line: { kind: "listen", port } });
  await wizard.on("listening");
  const name = fs.readdirSync(path.join(fixturesFolder, "generic-poct1a")).find((one) => one.endsWith(".poct1"));
  const played = playPoct1Device(fixture(`generic-poct1a/${name}`), await line(`tcp://127.0.0.1:${port}`), undefined);
  expect((await wizard.on("heard")).candidates[0]).toMatchObject({ profile: "generic-poct1a", score: 95 });
  await wizard.setup.stop();
  expect(await played).toMatchObject({ accepted: false });
});

test("an imaging device is recognised by its association, with both AE titles", async () => {
  const wizard = await started();
  const port = await freePort();
  await wizard.say({ to: "line", line: { kind: "imaging", port } });
  await wizard.on("listening");
  const socket = net.connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  const request = { ...associateRequest([[CR_STORAGE, EXPLICIT]]), calledAe: "VET_ARCHIVE", callingAe: "XRAY1" };
  socket.write(encodeAssociateRequest(request));
  const { candidates } = await wizard.on("heard");
  expect(candidates[0]).toMatchObject({ profile: "dicom", score: 95, reasons: ["XRAY1 calls VET_ARCHIVE"] });
  await wizard.say({ to: "heard", profile: "dicom", candidate: 0, anyway: false });
  await wizard.say({ to: "device", id: "xray-1", allow: ["127.0.0.1"] });
  expect(agent.host.agent?.config.devices).toEqual([
    {
      id: "xray-1",
      profile: "dicom",
      connection: { listen: `127.0.0.1:${port}` },
      allow: ["127.0.0.1"],
      aeTitle: "VET_ARCHIVE",
      callingAeTitles: ["XRAY1"],
    },
  ]);
});

test("an answer to an older step changes nothing", async () => {
  const wizard = await started();
  const { turn } = await wizard.setup.view();
  await wizard.say({ to: "line", line: { kind: "listen", port: await freePort() } });
  await wizard.say({ to: "listening", stop: true });
  await wizard.on("heard");
  expect(await wizard.setup.answer(turn, { to: "back" })).toContain("went on meanwhile");
  expect(await wizard.answer({ to: "device", id: "a", allow: [] })).toContain("went on meanwhile");
});
