import { Agent, get } from "node:http";
import { type Figure, median, milliseconds } from "../figure.ts";
import type { Clinic } from "./server.ts";

const DEEP_PAGE = 2500;
const DEEP_RATIO_MAX = 3;
const PAGE_SIZE = 20;
/** Of the second half of a walk to the first: a walk whose pages got slower by their depth would take three times as long. */
const HALVES_RATIO_MAX = 1.5;

/** What depth costs in a list of 100 000. No page is asked twice by the same URL, so none comes out of the cache. */
export async function* pages(clinic: Clinic, quick: boolean): AsyncGenerator<Figure> {
  const ask = client(clinic);
  const rounds = quick ? 100 : 500;
  const first: number[] = [];
  const deep: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    first.push((await ask(`/api/v1/patients?page=1&page_size=${PAGE_SIZE}&nth=${round}`)).ms);
    deep.push((await ask(`/api/v1/patients?page=${DEEP_PAGE}&page_size=${PAGE_SIZE}&nth=${round}`)).ms);
  }
  yield figure(`page ${DEEP_PAGE} of a list of 100 000`, median(deep), "page 1", median(first), DEEP_RATIO_MAX);

  const walked: number[] = [];
  for (let more = true; more; ) {
    const { ms, body } = await ask(`/api/v1/patients?page=${walked.length + 1}&page_size=${PAGE_SIZE}`);
    walked.push(ms);
    more = body.data.has_more;
  }
  const half = walked.length / 2;
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const [begun, ended] = [sum(walked.slice(0, half)), sum(walked.slice(half))];
  const name = `a walk of all ${walked.length} pages, its second half`;
  yield figure(name, ended, "its first half", begun, HALVES_RATIO_MAX);
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

/** Asks over one connection, and says how long it took. */
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
          else reject(new Error(`${path} answers ${response.statusCode}: ${text}`));
        });
      }).on("error", reject);
    });
}
