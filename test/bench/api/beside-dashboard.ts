import { get } from "node:http";
import { setInterval as every } from "node:timers/promises";
import { until } from "../../support/processes.ts";
import { type Figure, median, whole } from "../figure.ts";
import { fpOf } from "./data.ts";
import { type Load, requestsPerSecond } from "./load.ts";
import type { Clinic } from "./server.ts";

// The API beside the dashboard: its rate while pages are open, against its rate without them.

const PAGES = 5;
/** Interval of the changes. Each lets every open page load its data anew. */
const CHANGE_MS = 1000;
const RATIO_MIN = 0.95;
const RECORDS = 100_000;

/** Measures both rates in turn, so that a drift of the machine meets both. */
export async function* besideDashboard(clinic: Clinic, quick: boolean): AsyncGenerator<Figure> {
  const cookie = await signIn(clinic);
  const headers = { "x-api-key": clinic.key };
  const one: Load = { url: clinic.url, paths: [`/api/v1/patients/${fpOf("patient", 1)}`], headers, status: 200 };
  const many = Array.from({ length: RECORDS }, (_, index) => `/api/v1/patients/${fpOf("patient", index + 1)}`);
  yield await compare("GET one record, cached, beside the dashboard", one, clinic, cookie, quick);
  yield await compare(
    "GET one record, not cached, beside the dashboard",
    { ...one, paths: many },
    clinic,
    cookie,
    quick,
  );
}

async function compare(name: string, load: Load, clinic: Clinic, cookie: string, quick: boolean): Promise<Figure> {
  const [rounds, seconds] = quick ? [4, 1] : [8, 2];
  const rates: { alone: number; beside: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const alone = await requestsPerSecond(load, seconds);
    const close = await openPages(clinic, cookie);
    const beside = await requestsPerSecond(load, seconds);
    close();
    if (round > 0) rates.push({ alone, beside });
  }
  const ratio = median(rates.map(({ alone, beside }) => beside / alone));
  return {
    name,
    ours: `${whole(median(rates.map(({ beside }) => beside)))} requests/s with ${PAGES} open pages`,
    baseline: `without ${whole(median(rates.map(({ alone }) => alone)))} requests/s (medians of ${rounds} rounds)`,
    ratio,
    bar: `ratio >= ${RATIO_MIN}`,
    met: ratio >= RATIO_MIN,
  };
}

/** Sets up the dashboard with the code of the server's log. @returns the Cookie header of the session */
async function signIn({ url, running }: Clinic): Promise<string> {
  // The server logs the code after its address.
  const code = await until(
    "the server logs its set-up code",
    () => /with the code ([\w-]+)/.exec(running.output())?.[1],
  );
  const response = await fetch(`${url}/clinic/v1/set-up`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, name: "Bench", password: "a long password" }),
  });
  if (response.status !== 200) throw new Error(`set-up: ${await response.text()}`);
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

/** Opens pages that hear of changes and then load Today and Devices, and an agent that makes the changes. @returns their end */
async function openPages({ url, key }: Clinic, cookie: string): Promise<() => void> {
  const ofClinic = `${url}/clinic/v1/clinics/${fpOf("clinic", 1)}`;
  const ending = new AbortController();
  const { signal } = ending;
  const ignore = () => undefined; // aborted at the end of the round
  for (let page = 0; page < PAGES; page += 1) {
    const events = get(`${ofClinic}/events`, { headers: { cookie }, signal }, (response) => {
      response.on("error", ignore);
      response.on("data", (text: Buffer) => {
        if (!text.includes("changed")) return;
        for (const path of ["today", "devices"]) {
          fetch(`${ofClinic}/${path}`, { headers: { cookie }, signal }).then((answer) => answer.text(), ignore);
        }
      });
    });
    events.on("error", ignore);
    await new Promise((resolve) => events.once("response", resolve));
  }
  void beat(url, key, signal).catch(ignore);
  return () => ending.abort();
}

async function beat(url: string, key: string, signal: AbortSignal): Promise<void> {
  for await (const _ of every(CHANGE_MS, undefined, { signal })) {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    await fetch(`${url}/agent/v1/heartbeat`, { method: "POST", headers, body: "{}", signal });
  }
}
