import { type QualityState, stateAt } from "../../../shared/clinical/control/state.ts";
import type { JudgedRun } from "../../../shared/clinical/control/types.ts";
import { query, type Session } from "../../database/query.ts";
import { controlHistory } from "../controls/history.ts";
import { maxAgeMs, readSettings } from "../controls/settings.ts";
import { markedFrom, placeOf } from "./marks.ts";

/** The runs of an analyte from a time on, with those before it that decide the state then. */
interface History {
  readonly from: number;
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

/** The controls of one device in one transaction. What several studies need is read once. */
export class DeviceControls {
  readonly #session: Session;
  readonly #clinicId: number;
  readonly #deviceId: string;
  readonly #histories = new Map<string, History>();
  #firstAt: Promise<number | null> | undefined;
  #schedule: Promise<Schedule> | undefined;

  constructor(session: Session, clinicId: number, deviceId: string) {
    this.#session = session;
    this.#clinicId = clinicId;
    this.#deviceId = deviceId;
  }

  /** The time of the first control of the device, named or not; null if none is stored. */
  async firstAt(): Promise<number | null> {
    this.#firstAt ??= this.#session.first(firstRun, this.#key()).then((row) => row?.at ?? null);
    return this.#firstAt;
  }

  /** The state of an analyte's controls at a moment. */
  async stateOf(analyte: string, at: number): Promise<QualityState> {
    const state = await this.#stateIn(await this.#history(analyte, at), at);
    const history = await this.#history(analyte, at);
    const first = history.runs[0]?.run.at ?? Number.POSITIVE_INFINITY;
    // A state that is as old as the first run that was read may be older.
    const isCut = history.from !== ALL && state.rule !== undefined && (state.since ?? ALL) <= first;
    return isCut ? this.#stateIn(await this.#history(analyte, ALL), at) : state;
  }

  /** The time from which studies may have other marks, if controls of these analytes changed from `from` on. */
  async markedFrom(analytes: readonly string[], from: number): Promise<number> {
    let start = from;
    for (const analyte of analytes) {
      const { runs } = await this.#history(analyte, from);
      const since = markedFrom(runs, from) ?? markedFrom((await this.#history(analyte, ALL)).runs, from) ?? ALL;
      start = Math.min(start, since);
    }
    return start;
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

  async #history(analyte: string, from: number): Promise<History> {
    const known = this.#histories.get(analyte);
    if (known !== undefined && known.from <= from) return known;
    const runs = await controlHistory(
      this.#session,
      this.#clinicId,
      this.#deviceId,
      analyte,
      from,
      Number.MAX_SAFE_INTEGER,
    );
    const history = { from, runs, states: new Map<string, QualityState>() };
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
    .orderBy("measured_at")
    .limit(1),
);

const zoneOf = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic_settings").select("time_zone").where("clinic_id", "=", p.clinicId),
);
