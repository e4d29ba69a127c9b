import { differenceOf, type Instrument, isSameDevice } from "../../../shared/clinical/compare/compare.ts";
import type { PatientStudyHead, SideBySide, SideBySideRow } from "../../dashboard/types/patients.ts";
import { asPrinted, isSameSubject, type PlacedResult, type PlacedStudy, shownPlaced } from "./compared-results.ts";

// The same animal on two devices: what both measured within a day.

const DAY_MS = 86_400_000;

/** Pairs of studies that a page shows. */
const PAIRS_MAX = 6;

interface ComparedStudy {
  readonly placed: PlacedStudy;
  readonly head: PatientStudyHead;
}

/** Takes the studies the newest first, each with its head for the dashboard. */
export function sideBySide(studies: readonly ComparedStudy[]): SideBySide[] {
  const places = placesBySubject(studies);
  const times = studies.map(({ head }) => Date.parse(head.acquired_at));
  const pairs: SideBySide[] = [];
  for (const [index, later] of studies.entries()) {
    const until = (times[index] ?? 0) - DAY_MS;
    for (const place of othersOf(later.placed, places, { index, isInDay: (at) => (times[at] ?? 0) >= until })) {
      if (pairs.length === PAIRS_MAX) return pairs;
      const earlier = studies[place];
      if (earlier === undefined) continue;
      const rows = earlier.placed.results.flatMap((one) => rowOf(one, later.placed.results));
      pairs.push({ studies: [earlier.head, later.head], rows });
    }
  }
  return pairs;
}

/** The places of the studies of one device that have a subject, in their order. */
interface DevicePlaces {
  readonly device: Instrument;
  readonly places: number[];
}

// A day may have thousands of studies, so that each is not compared with each. A device's own code never meets another device's.
function placesBySubject(studies: readonly ComparedStudy[]): Map<string, Map<string, DevicePlaces>> {
  const found = new Map<string, Map<string, DevicePlaces>>();
  for (const [place, { placed }] of studies.entries()) {
    const { device } = placed;
    for (const subject of subjectsOf(placed)) {
      const ofSubject = getOrMake(found, subject, () => new Map<string, DevicePlaces>());
      getOrMake(ofSubject, JSON.stringify([device.name, device.id]), () => ({ device, places: [] })).places.push(place);
    }
  }
  return found;
}

function subjectsOf({ results }: PlacedStudy): Set<string> {
  const shared = results.filter(({ compared, result }) => compared !== null && result.code_source !== "device");
  return new Set(shared.map(({ subject }) => subject));
}

function getOrMake<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Returns the next studies of other devices within the day that share a subject, as many as a page shows. */
function othersOf(
  later: PlacedStudy,
  bySubject: ReturnType<typeof placesBySubject>,
  { index, isInDay }: { index: number; isInDay: (place: number) => boolean },
): number[] {
  const found = new Set<number>();
  for (const subject of subjectsOf(later)) {
    for (const { device, places } of bySubject.get(subject)?.values() ?? []) {
      if (isSameDevice(later.device, device)) continue;
      const from = firstAfter(places, index);
      for (const place of places.slice(from, from + PAIRS_MAX)) if (isInDay(place)) found.add(place);
    }
  }
  return [...found].toSorted((one, other) => one - other);
}

/** Returns the index of the first place after another one, among places in their order. */
function firstAfter(places: readonly number[], place: number): number {
  let [from, to] = [0, places.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((places[middle] ?? 0) > place) to = middle;
    else from = middle + 1;
  }
  return from;
}

function rowOf(one: PlacedResult, others: readonly PlacedResult[]): SideBySideRow[] {
  if (one.compared === null) return [];
  const other = others.find((each) => each.compared !== null && isSameSubject(each, one));
  if (other?.compared == null) return [];
  const [first, second] = [shownPlaced(one), shownPlaced(other)];
  return [
    {
      analyte: other.result.analyte,
      name: other.analyte?.name ?? null,
      name_tr: other.analyte?.name_tr ?? null,
      values: [
        { analyte: one.result.analyte, text: first.value, unit: first.unit },
        { analyte: other.result.analyte, text: second.value, unit: second.unit },
      ],
      difference: asPrinted(differenceOf(one.compared, other.compared), [first.value, second.value]),
    },
  ];
}
