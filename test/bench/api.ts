import { startScript } from "./build.ts";
import { type Figure, whole } from "./figure.ts";
import { APPOINTMENTS, DAILY, dayOf, EVENTS, fpOf, ITEMS, itemName, STUDIES, studyTime } from "./api/data.ts";
import { compare, type Load } from "./api/load.ts";
import { type Clinic, listens, startClinic } from "./api/server.ts";

const RECORD = `/api/v1/patients/${fpOf("patient", 1)}`;
const DOGS = "/api/v1/patients?species=dog&page_size=20";
/** Number of patients and of URLs: more than the cache holds, and more than one round requests. */
const PATIENTS = 100_000;

/** Measures authenticated, rate-limited responses of the build under load, next to raw node:http with the same headers and body. */
export async function* api(quick: boolean): AsyncGenerator<Figure> {
  const clinic = await startClinic(PATIENTS);
  try {
    yield* responses(clinic, quick);
  } finally {
    await clinic.end();
  }
}

async function* responses(clinic: Clinic, quick: boolean): AsyncGenerator<Figure> {
  const running = await startScript("api/raw-server.ts");
  try {
    const rawUrl = await listens(running);
    const headers = { "x-api-key": clinic.key };
    const record: Load = { url: clinic.url, paths: [RECORD], headers, status: 200 };
    const page: Load = { ...record, paths: [DOGS] };
    const etag = (await fetch(`${clinic.url}${RECORD}`, { headers })).headers.get("etag") ?? "";
    const unchanged: Load = { ...record, headers: { ...headers, "if-none-match": etag }, status: 304 };
    const [rawRecord, rawPage, rawUnchanged] = [
      await prepare(rawUrl, "/record", record),
      await prepare(rawUrl, "/page", page),
      await prepare(rawUrl, "/unchanged", unchanged),
    ];
    const many = Array.from({ length: PATIENTS }, (_, index) => index + 1);
    const records = { ...record, paths: many.map((number) => `/api/v1/patients/${fpOf("patient", number)}`) };
    // The server ignores `nth`, but it makes each URL new to the cache.
    const pages = { ...page, paths: many.map((number) => `${DOGS}&nth=${number}`) };

    // Nine tenths of the ratios of November 28.
    yield await compare("GET one record, cached", record, rawRecord, { ratioMin: 0.63, quick });
    yield await compare("GET a page of 20 of 57 000 matches, cached", page, rawPage, { ratioMin: 0.55, quick });
    yield await compare("GET one record, 304", unchanged, rawUnchanged, { ratioMin: 0.6, quick });
    yield await compare("GET one record, not cached", records, rawRecord, { ratioMin: 0.2, quick });
    yield await compare("GET a page of 20 of 57 000 matches, not cached", pages, rawPage, { ratioMin: 0.1, quick });

    // A page costs the same in any part of the feed. The bar leaves room for half as much again.
    const feed = { ratioMin: 1 / 1.5, quick, against: "the first page" };
    const eventPages = (from: string): Load => ({
      ...record,
      paths: many.map((number) => `/api/v1/events?page_size=${PAGE}${from}&nth=${number}`),
    });
    const last = eventPages(`&after=${cursorOf(EVENTS - PAGE)}`);
    yield await compare(`GET the last ${PAGE} of ${whole(EVENTS)} events, not cached`, last, eventPages(""), feed);
    yield* ends(clinic, quick);
  } finally {
    await running.end("SIGKILL");
  }
}

/** Measures the last page of each long list next to its first one: a page costs the same wherever it is. */
async function* ends({ url, key }: Clinic, quick: boolean): AsyncGenerator<Figure> {
  const both = { "x-api-key": key, authorization: `Bearer ${key}` };
  const last = { ratioMin: 1 / 1.5, quick, against: "the first page" };
  const pagesOf = (path: string, headers: Load["headers"]): Load => {
    const paths = Array.from({ length: PATIENTS }, (_, index) => `${path}&nth=${index}`);
    return { url, paths, headers, status: 200 };
  };
  const lists = [
    [
      "studies",
      both,
      STUDIES,
      `/api/v1/lab/diagnostics?page_size=${PAGE}`,
      ["studies", studyTime(PAGE + 1), fpOf("cds", PAGE + 1)],
    ],
    [
      "items",
      both,
      ITEMS,
      `/api/v1/inventory?page_size=${PAGE}`,
      ["items", itemName(ITEMS - PAGE), fpOf("invitem", ITEMS - PAGE)],
    ],
  ] as const;
  for (const [name, headers, rows, path, position] of lists) {
    const page = rows / PAGE;
    const after = Buffer.from(JSON.stringify([...position, page, null])).toString("base64url");
    const end = pagesOf(`${path}&after=${after}`, { ...headers });
    yield await compare(
      `GET the last ${PAGE} of ${whole(rows)} ${name}, not cached`,
      end,
      pagesOf(path, headers),
      last,
    );
  }
  const dayAt = (day: number) =>
    pagesOf(`/api/v1/calendar/events?start_date=${dayOf(day)}&end_date=${dayOf(day + 1)}`, both);
  const days = APPOINTMENTS / DAILY;
  const name = `GET the last day of ${whole(APPOINTMENTS)} appointments, not cached`;
  yield await compare(name, dayAt(days - 1), dayAt(1), { ...last, against: "the second day" });
}

const PAGE = 100;

/** The position of an event in the feed. */
function cursorOf(event: number): string {
  return Buffer.from(JSON.stringify(["events", event, event, event])).toString("base64url");
}

/** Copies the server's response to the raw server. @returns the load of the copy */
async function prepare(url: string, path: string, load: Load): Promise<Load> {
  // The load accepts no gzip either.
  const given = { ...load.headers, "accept-encoding": "identity" };
  const response = await fetch(`${load.url}${load.paths[0]}`, { headers: given });
  const headers = Object.fromEntries(response.headers);
  // Node adds these headers.
  for (const name of ["date", "connection", "keep-alive"]) delete headers[name];
  await fetch(`${url}${path}`, {
    method: "PUT",
    body: JSON.stringify({ status: response.status, headers, body: await response.text() }),
  });
  return { ...load, url, paths: [path] };
}
