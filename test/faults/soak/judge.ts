// Judges the measures of a soak run.

/** Measurements of a program at one moment. */
export interface Sample {
  /** The process: `agent 1` is replaced by `agent 2`, whose heap begins anew. */
  readonly life: string;
  /** Hours of its clock since the begin of the run. */
  readonly hours: number;
  /** Acknowledged messages since the begin of the run. */
  readonly messages: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly descriptors: number;
  /** 99th percentile and maximum of the delays of its event loop since the first sample of its life. */
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Size of the write-ahead log of its database. */
  readonly logBytes: number;
}

export interface Limits {
  readonly heapBytesPerHour: number;
  readonly heapBytesPerMessage: number;
  readonly residentBytesPerHour: number;
  /** Open files that a life may have at its end beyond those after its warm-up. */
  readonly moreDescriptors: number;
  readonly p99Ms: number;
  readonly logBytes: number;
  /** Messages of a life before its samples count: caches fill, and code is compiled. */
  readonly warmUpMessages: number;
  /** Samples of a life after the warm-up, below which its slopes are chance. */
  readonly samplesMin: number;
}

/** The figures of a program over all its lives. */
export interface Figures {
  /** Null if no life is long enough. */
  readonly heapBytesPerHour: number | null;
  readonly heapBytesPerMessage: number | null;
  readonly residentBytesPerHour: number | null;
  readonly moreDescriptors: number | null;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly logBytes: number;
}

type Judged =
  | "heapBytesPerHour"
  | "heapBytesPerMessage"
  | "residentBytesPerHour"
  | "moreDescriptors"
  | "p99Ms"
  | "logBytes";

const NAMES: Readonly<Record<Judged, string>> = {
  heapBytesPerHour: "heap bytes an hour",
  heapBytesPerMessage: "heap bytes a message",
  residentBytesPerHour: "resident bytes an hour",
  moreDescriptors: "further open files",
  p99Ms: "p99 of the event loop in ms",
  logBytes: "bytes of the write-ahead log",
};

/** Computes the figures of one program from the samples of its lives, each in the order of time. */
export function figuresOf(samples: readonly Sample[], { warmUpMessages, samplesMin }: Limits): Figures {
  const lives = [...new Set(samples.map(({ life }) => life))].map((name) =>
    samples.filter(({ life }) => life === name),
  );
  const warm = lives
    .map((life) => life.filter(({ messages }) => messages - life[0]!.messages >= warmUpMessages))
    .filter(({ length }) => length >= samplesMin);
  const growth = (by: (sample: Sample) => number, of: (sample: Sample) => number) =>
    medianSlope(warm.map((life) => life.map((sample) => ({ x: by(sample), y: of(sample) }))));
  return {
    heapBytesPerHour: growth(hoursOf, heapOf),
    heapBytesPerMessage: growth(messagesOf, heapOf),
    residentBytesPerHour: growth(hoursOf, ({ residentBytes }) => residentBytes),
    moreDescriptors: warm.length === 0 ? null : Math.max(...warm.map(moreDescriptors)),
    // The first samples of a life are of few turns, all of a program that starts.
    p99Ms: Math.max(...lives.map((life) => life.at(-1)!.p99Ms)),
    maxMs: Math.max(...samples.map(({ maxMs }) => maxMs)),
    logBytes: Math.max(...samples.map(({ logBytes }) => logBytes)),
  };
}

/** Lists the limits that the figures break. A figure that could not be computed breaks its limit. */
export function problemsOf(figures: Figures, limits: Limits): string[] {
  return (Object.keys(NAMES) as Judged[]).flatMap((key) => {
    const value = figures[key];
    if (value !== null && value <= limits[key]) return [];
    return [`expected ${NAMES[key]} <= ${limits[key]}, got ${value === null ? "too few samples" : Math.round(value)}`];
  });
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/**
 * Estimates a slope as the median over all pairs of points (Theil and Sen), so that single outliers do not count. Pairs are of one
 * group. @returns null without a pair
 */
export function medianSlope(groups: readonly (readonly Point[])[]): number | null {
  const slopes = groups.flatMap((points) =>
    points.flatMap((from, index) =>
      points
        .slice(index + 1)
        .filter((to) => to.x > from.x)
        .map((to) => (to.y - from.y) / (to.x - from.x)),
    ),
  );
  return slopes.length === 0 ? null : median(slopes);
}

/** Compares the first quarter of a life with its last one. A connection that is open at one moment does not count. */
function moreDescriptors(life: readonly Sample[]): number {
  const quarter = Math.ceil(life.length / 4);
  const open = life.map(({ descriptors }) => descriptors);
  return median(open.slice(-quarter)) - median(open.slice(0, quarter));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle) - 1]!) / 2;
}

const hoursOf = ({ hours }: Sample) => hours;
const messagesOf = ({ messages }: Sample) => messages;
const heapOf = ({ heapBytes }: Sample) => heapBytes;
