import { confirm, isCancel, log, note, select, text } from "@clack/prompts";
import type {
  DeviceStep,
  FirstStep,
  HeardStep,
  LineStep,
  PlaceStep,
  ServerStep,
  SetupAnswer,
  SetupLine,
  SetupStep,
} from "../../shared/local/setup.ts";
import { SETUP_ADVICE } from "../../shared/local/setup-advice.ts";
import { printable, printableLines } from "../../shared/runtime/printable.ts";
import type { Setup } from "../setup/setup.ts";
import { studyLines } from "./setup-text.ts";
import { WaitingLine } from "./waiting-line.ts";

// The questions of `agent setup`. Each function draws a step and returns the answer; null if the user ends the set-up.

/** A step that waits for an answer. */
type Question = Exclude<SetupStep, { readonly at: "listening" }>;

/** The user pressed Ctrl-C. */
class Ended extends Error {}

export async function ask(step: Question, setup: Setup): Promise<SetupAnswer | null> {
  try {
    return await askStep(step, setup);
  } catch (error) {
    if (error instanceof Ended) return null;
    throw error;
  }
}

function askStep(step: Question, setup: Setup): Promise<SetupAnswer> {
  switch (step.at) {
    case "server":
      return askServer(step);
    case "place":
      return askPlace(step);
    case "line":
      return askLine(step);
    case "heard":
      return askHeard(step);
    case "device":
      return askDevice(step);
    case "first":
      return askFirst(step, setup);
  }
}

/** @throws Ended */
function taken<T>(answer: T): Exclude<T, symbol> {
  if (isCancel(answer)) throw new Ended();
  return answer as Exclude<T, symbol>;
}

function missing(value = ""): string | undefined {
  return value.trim() === "" ? "Type something, or press Ctrl-C to end." : undefined;
}

async function typed(message: string, initialValue = "", placeholder = ""): Promise<string> {
  return taken(await text({ message, initialValue, placeholder, validate: missing }));
}

async function chosen<const Value extends string>(
  message: string,
  options: readonly (readonly [Value, string])[],
): Promise<Value> {
  const shown = options.map(([value, label]) => ({ value, label: printable(label) }));
  return taken(await select<string>({ message, options: shown, maxItems: 12 })) as Value;
}

async function askServer({ name }: ServerStep): Promise<SetupAnswer> {
  const way = await chosen("How does this PC get access to the clinic?", [
    ["code", "With a code: dashboard, Devices, Add a clinic PC"],
    ["key", "With a key that is saved in a file"],
  ]);
  const url = await typed("Address of the dashboard", "", "https://vetwire.example.com");
  if (way === "key") return { to: "server", url, keyFile: await typed("File with the key", "agent.key") };
  const code = await typed("Code", "", "7KQM-X2HD");
  return { to: "server", url, code, name: await typed("Name of this PC", name) };
}

async function askPlace({ clinic, warnings, timeZone, data }: PlaceStep): Promise<SetupAnswer> {
  if (clinic !== null) log.success(`This PC is connected to ${printable(clinic)}.`);
  for (const warning of warnings) log.warn(printable(warning));
  const zone = await typed("Time zone of the clinic", timeZone);
  return { to: "place", timeZone: zone, data: await typed("Folder for results", data) };
}

async function askLine({ ports, addresses, freePort, imagingPort }: LineStep): Promise<SetupAnswer> {
  const kind = await chosen<SetupLine["kind"]>("How is the new device connected?", [
    ["serial", "Serial cable, or a USB adapter for one"],
    ["listen", "Network: the device calls this PC"],
    ["dial", "Network: this PC calls the device"],
    ["imaging", "Imaging device (DICOM)"],
  ]);
  switch (kind) {
    case "serial": {
      const free = ports.filter(({ device }) => device === null);
      const other = ["", "Another path"] as const;
      const listed = free.map(({ path, name }) => [path, name] as const);
      const path = listed.length === 0 ? "" : await chosen("Which port?", [...listed, other]);
      return {
        to: "line",
        line: { kind, path: path === "" ? await typed("Path of the port", "", "/dev/ttyUSB0") : path },
      };
    }
    case "dial":
      return {
        to: "line",
        line: { kind, address: await typed("Address and port of the device", "", "192.168.1.50:5500") },
      };
    case "listen":
    case "imaging": {
      const port = await typed("Port of this PC", String(kind === "listen" ? freePort : imagingPort));
      log.info(`Type this port into the device's settings, and this address of this PC: ${addresses.join(", ")}`);
      return { to: "line", line: { kind, port: Number(port) } };
    }
  }
}

const LOOK_MS = 300;

/** Shows what comes until the listening ends. Ctrl-C ends it early, and nothing else. */
export async function listen(setup: Setup): Promise<void> {
  const line = new WaitingLine();
  log.step("Send a result at the device now. Ctrl-C stops listening.");
  for (;;) {
    const { step, turn } = await setup.view();
    if (step.at !== "listening") return line.end();
    if (line.isStopped) await setup.answer(turn, { to: "listening", stop: true });
    const { bytes, setting, unread, secondsLeft, problem } = step;
    const last = unread.at(-1);
    const parts = [
      ...(last === undefined ? [] : [`${last} makes no sense of it: send the result once more`]),
      `${bytes} bytes`,
      ...(setting === null ? [] : [setting]),
      `${secondsLeft} s left`,
      ...(problem === null ? [] : [problem]),
    ];
    line.show(parts.join(", "));
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function askHeard({ candidates, profiles, problem, advice, bytes, shown }: HeardStep): Promise<SetupAnswer> {
  if (problem !== null) log.warn(printable(problem));
  if (candidates.length === 0) log.warn(`${bytes} bytes came, and fit no known device.`);
  if (advice.length > 0) note(advice.map((one) => `- ${SETUP_ADVICE[one]}`).join("\n"), "What to check");
  if (shown !== "") note(printableLines(shown), "Bytes of the device");
  for (const { score, name, protocol, setting, caller, reasons } of candidates) {
    const parts = [name, protocol, setting, caller, ...reasons].filter((part) => part !== null);
    log.message(printable(`${String(score).padStart(3)}  ${parts.join("; ")}`));
  }
  const best = candidates.map(({ name, profile, setting }, index) => {
    const label = `${name} (${profile})${setting === null ? "" : `, ${setting}`}`;
    return [String(index), label] as const;
  });
  const answer = await chosen<string>("Which device is it?", [
    ...best,
    ["other", "Another device: choose from the list"],
    ["again", "Listen again"],
    ["back", "Choose another line"],
  ]);
  if (answer === "again") return { to: "heard", again: true };
  if (answer === "back") return { to: "back" };
  if (answer !== "other") {
    const candidate = Number(answer);
    return { to: "heard", profile: candidates[candidate]?.profile ?? "", candidate, anyway: false };
  }
  return { to: "heard", profile: await chosenProfile(profiles), candidate: -1, anyway: false };
}

function chosenProfile(profiles: HeardStep["profiles"]): Promise<string> {
  return chosen<string>(
    "Which kind of device?",
    profiles.map(({ profile, name }) => [profile, `${name} (${profile})`] as const),
  );
}

type ProfileAnswer = Extract<SetupAnswer, { readonly to: "heard"; readonly profile: string }>;

/** Asks whether a profile that the bytes contradict is wanted. @returns null if not */
export async function insist(answer: ProfileAnswer): Promise<SetupAnswer | null> {
  const isSure = await confirm({ message: `Use ${answer.profile} anyway?`, initialValue: false });
  return isSure === true ? { ...answer, anyway: true } : null;
}

async function askDevice({ id, allow, callers, studies }: DeviceStep): Promise<SetupAnswer> {
  if (studies.length > 0) note(studyLines(studies).join("\n"), "The result would be filed like this");
  const name = await typed("Name of the device", id);
  const networks = callers ? await typed("Addresses that may send", allow.join(", ")) : "";
  return { to: "device", id: name, allow: networks.split(/[\s,]+/).filter((network) => network !== "") };
}

/** Time for which the first result is waited for before the user is asked again. */
const FIRST_MS = 60_000;

async function askFirst(first: FirstStep, setup: Setup): Promise<SetupAnswer> {
  log.success(printable(`The device ${first.device} is saved. Send the result once more, to ${first.place}`));
  const step = await awaitFirst(first, setup);
  const { message, profile, problem, profiles } = step;
  if (message === null) log.warn(printable(problem ?? "Nothing came yet."));
  else {
    log.success(
      printable(`The first result arrived: ${message.state}${message.reason === null ? "" : `, ${message.reason}`}`),
    );
    if (message.studies.length > 0) note(studyLines(message.studies).join("\n"), profile.name);
    const like = message.looksLike;
    if (like !== null) log.warn(printable(`This looks like ${like.name} (${like.profile}), not ${profile.profile}.`));
  }
  const answer = await chosen("What next?", [
    ...(message === null ? ([["wait", "Wait for the result"]] as const) : []),
    ["finish", "Done"],
    ["another", "Add another device"],
    ["change", "Change the kind of device"],
  ]);
  if (answer === "wait") return askFirst(first, setup);
  if (answer !== "change") return { to: "first", next: answer };
  return { to: "first", profile: message?.looksLike?.profile ?? (await chosenProfile(profiles)) };
}

/** Waits for the first message, some time or until Ctrl-C. */
async function awaitFirst(first: FirstStep, setup: Setup): Promise<FirstStep> {
  const line = new WaitingLine();
  const end = performance.now() + FIRST_MS;
  let step = first;
  while (step.message === null && !line.isStopped && performance.now() < end) {
    line.show(step.problem ?? "Waiting for the first result. Ctrl-C stops waiting.");
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const view = await setup.view();
    if (view.step.at === "first") step = view.step;
  }
  line.end();
  return step;
}
