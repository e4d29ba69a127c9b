import { sql } from "kysely";
import { type QualityState, stateAt } from "../../../shared/clinical/control/state.ts";
import type { JudgedRun } from "../../../shared/clinical/control/types.ts";
import { query, type Session } from "../../database/query.ts";
import { controlHistory } from "../controls/history.ts";
import { levelNames } from "../controls/judging.ts";
import { seriesOfAnalyte } from "../controls/series.ts";
import { maxAgeMs, readSettings } from "../controls/settings.ts";
import { markedFrom, markedUntil, placeOf } from "./marks.ts";

/** The runs of an analyte from a time on, with those before it that decide the state then. */
interface History {
  readonly from: number;
  readonly to: number;
  readonly runs: readonly JudgedRun[];
  /** The states between two runs, which are the same. */
  readonly states: Map<string, QualityState>;
}

interface Schedule {
  /** Null without one. */
  readonly everyDays: number | null;
  readonly timeZone: string | null;
}

const ALL = Number.MIN_SAFE_INTEGER;
const LAST = Number.MAX_SAFE_INTEGER;

/** How far the controls after a moment are read at first. Rows of rules end and the next controls are run in it. */
const AHEAD_MS = 60 * 86_400_000;

/** The controls of one device in one transaction. What several studies need is read once. */
export class DeviceControls {
  readonly #session: Session;
  readonly #clinicId: number;
  readonly #deviceId: string;
  readonly #histories = new Map<string, History>();
  readonly #lastOfLevels = new Map<string, ReadonlyMap<string, number>>();
  #firstAt: Promise<number | null> | undefined;
  #schedule: Promise<Schedule> | undefined;

  constructor(session: Session, clinicId: number, deviceId: string) {
    this.#session = session;
    this.#clinicId = clinicId;
    this.#deviceId = deviceId;
  }

  /**
   * The time of the first control of the device, named or not; null if none is stored. A device's check of itself, such as the VetScan's with
   * each rotor, has no analyte and does not count.
   */
  async firstAt(): Promise<number | null> {
    this.#firstAt ??= this.#session.first(firstRun, this.#key()).then((row) => row?.at ?? null);
    return this.#firstAt;
  }

  /** The state of an analyte's controls at a moment. */
  async stateOf(analyte: string, at: number): Promise<QualityState> {
    const history = await this.#historyAhead(analyte, at);
    const state = await this.#stateIn(history, at);
    const first = history.runs[0]?.run.at ?? Number.POSITIVE_INFINITY;
    // A state that is as old as the first run that was read may be older.
    const isCut = history.from !== ALL && state.rule !== undefined && (state.since ?? ALL) <= first;
    return isCut ? this.#stateIn(await this.#history(analyte, ALL, history.to), at) : state;
  }

  /** The time from which studies may have other marks, if controls of these analytes changed from `from` on. */
  async markedFrom(analytes: readonly string[], from: number): Promise<number> {
    let start = from;
    for (const analyte of analytes) {
      const { runs, to } = await this.#history(analyte, from, from + AHEAD_MS);
      const since = markedFrom(runs, from) ?? markedFrom((await this.#history(analyte, ALL, to)).runs, from) ?? ALL;
      start = Math.min(start, since);
    }
    return start;
  }

  /** The time up to which studies may have other marks, if controls of these analytes changed from `from` to `to`. */
  async markedUntil(analytes: readonly string[], { from, to }: { from: number; to: number }): Promise<number> {
    // A study is marked from the first control of the device on.
    const next = await this.#session.first(runAfter, { ...this.#key(), at: to });
    let end = next?.at ?? LAST;
    for (const analyte of analytes) {
      if (end === LAST) break;
      const levels = await this.#levels(analyte);
      const changed = [...levels].flatMap(([level, last]) => (last >= from ? [level] : []));
      const { runs } = await this.#history(analyte, from, to + AHEAD_MS);
      end = Math.max(end, markedUntil(runs, to, changed) ?? LAST);
    }
    return end;
  }

  async #stateIn({ runs, states }: History, at: number): Promise<QualityState> {
    const place = placeOf(runs, at);
    const last = runs[place - 1]?.run.at;
    const maxAge = last === undefined ? null : await this.#maxAge(last);
    const key = `${place} ${last !== undefined && maxAge !== null && at - last > maxAge}`;
    const state = states.get(key) ?? stateAt(runs, at, { maxAgeMs: maxAge });
    states.set(key, state);
    return state;
  }

  async #maxAge(last: number): Promise<number | null> {
    this.#schedule ??= this.#readSchedule();
    const { everyDays, timeZone } = await this.#schedule;
    return everyDays === null ? null : maxAgeMs(everyDays, last, timeZone);
  }

  async #readSchedule(): Promise<Schedule> {
    const { schedules } = await readSettings(this.#session, this.#clinicId);
    const zone = await this.#session.first(zoneOf, { clinicId: this.#clinicId });
    return { everyDays: schedules.get(this.#deviceId)?.value ?? null, timeZone: zone?.time_zone ?? null };
  }

  /** The runs since a moment, as far as the next one of each level after it. */
  async #historyAhead(analyte: string, at: number): Promise<History> {
    const history = await this.#history(analyte, at, at + AHEAD_MS);
    if (history.to === LAST) return history;
    const ahead = history.runs.slice(placeOf(history.runs, at)).flatMap(({ run }) => run.points);
    const seen = new Set(ahead.map(({ level }) => level));
    const isShort = [...(await this.#levels(analyte))].some(([level, last]) => last > history.to && !seen.has(level));
    return isShort ? this.#history(analyte, at, LAST) : history;
  }

  /** The last value of each level of an analyte that has values which count. */
  async #levels(analyte: string): Promise<ReadonlyMap<string, number>> {
    const known = this.#lastOfLevels.get(analyte);
    if (known !== undefined) return known;
    const levels = new Map<string, number>();
    const all = await this.#session.all(seriesOfAnalyte, { ...this.#key(), analyte });
    const levelOf = levelNames(all);
    for (const series of all) {
      const level = levelOf(series);
      if (series.counted > 0) levels.set(level, Math.max(levels.get(level) ?? ALL, series.last_at ?? ALL));
    }
    this.#lastOfLevels.set(analyte, levels);
    return levels;
  }

  async #history(analyte: string, fromAtMost: number, toAtLeast: number): Promise<History> {
    const known = this.#histories.get(analyte);
    if (known !== undefined && known.from <= fromAtMost && known.to >= toAtLeast) return known;
    const from = Math.min(fromAtMost, known?.from ?? fromAtMost);
    // Half as far again each time, so that the studies of years are marked by a few reads.
    const further = known === undefined || toAtLeast === LAST ? 0 : Math.max(0, (toAtLeast - known.from) / 2);
    const to = Math.max(known?.to ?? ALL, Math.min(LAST, Math.round(toAtLeast + further)));
    const runs = await controlHistory(this.#session, this.#clinicId, this.#deviceId, analyte, from, to);
    const history = { from, to, runs, states: new Map<string, QualityState>() };
    this.#histories.set(analyte, history);
    return history;
  }

  #key(): { clinicId: number; deviceId: string } {
    return { clinicId: this.#clinicId, deviceId: this.#deviceId };
  }
}

const firstRun = query((db, p: { clinicId: number; deviceId: string }) =>
  db
    .selectFrom("control_run")
    .select("measured_at as at")
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.deviceId)
    .where("own_check", "=", sql.lit(0))
    .orderBy("measured_at")
    .limit(1),
);

const runAfter = query((db, p: { clinicId: number; deviceId: string; at: number }) =>
  db
    .selectFrom("control_run")
    .select("measured_at as at")
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.deviceId)
    .where("measured_at", ">", p.at)
    .orderBy("measured_at")
    .limit(1),
);

const zoneOf = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic_settings").select("time_zone").where("clinic_id", "=", p.clinicId),
);
