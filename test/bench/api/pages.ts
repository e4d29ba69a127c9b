import { Agent, get } from "node:http";
import { type Figure, median, milliseconds } from "../figure.ts";
import type { Clinic } from "./server.ts";

const DEEP_PAGE = 2500;
const DEEP_RATIO_MAX = 3;
const PAGE_SIZE = 20;
/** Max time of the second half of all pages relative to the first. The ratio is 3 if the time of a page grows with its number. */
const HALVES_RATIO_MAX = 1.5;

/** Measures deep pages of a list of 100 000. Every URL is requested once, so no response comes from the cache. */
export async function* pages(clinic: Clinic, quick: boolean): AsyncGenerator<Figure> {
  const request = client(clinic);
  const rounds = quick ? 100 : 500;
  const first: number[] = [];
  const deep: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    first.push((await request(`/api/v1/patients?page=1&page_size=${PAGE_SIZE}&nth=${round}`)).ms);
    deep.push((await request(`/api/v1/patients?page=${DEEP_PAGE}&page_size=${PAGE_SIZE}&nth=${round}`)).ms);
  }
  yield figure(`page ${DEEP_PAGE} of a list of 100 000`, median(deep), "page 1", median(first), DEEP_RATIO_MAX);

  const walked: number[] = [];
  for (let more = true; more; ) {
    const { ms, body } = await request(`/api/v1/patients?page=${walked.length + 1}&page_size=${PAGE_SIZE}`);
    walked.push(ms);
    more = body.data.has_more;
  }
  const half = walked.length / 2;
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const [begun, ended] = [sum(walked.slice(0, half)), sum(walked.slice(half))];
  const name = `second half of all ${walked.length} pages`;
  yield figure(name, ended, "first half", begun, HALVES_RATIO_MAX);
}

function figure(name: string, ours: number, baselineName: string, baseline: number, ratioMax: number): Figure {
  return {
    name,
    ours: milliseconds(ours),
    baseline: `${baselineName} ${milliseconds(baseline)}`,
    ratio: ours / baseline,
    bar: `ratio <= ${ratioMax}`,
    met: ours / baseline <= ratioMax,
  };
}

interface PageBody {
  data: { has_more: boolean };
}

/** Returns a function that requests a path over one connection and measures the time. */
export function client({ url, key }: Clinic): (path: string) => Promise<{ ms: number; body: PageBody }> {
  const agent = new Agent({ keepAlive: true });
  return (path) =>
    new Promise((resolve, reject) => {
      const begun = performance.now();
      get(`${url}${path}`, { agent, headers: { "x-api-key": key } }, (response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () => {
          const ms = performance.now() - begun;
          const text = Buffer.concat(parts).toString();
          if (response.statusCode === 200) resolve({ ms, body: JSON.parse(text) as PageBody });
          else reject(new Error(`${path}: expected status 200, got ${response.statusCode}: ${text}`));
        });
      }).on("error", reject);
    });
}
