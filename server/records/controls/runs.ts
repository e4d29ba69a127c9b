import type { ControlResult, ControlRun, DeviceEvent, QualityRecord } from "../../../shared/api/quality.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { ControlRunColumns, ControlValueColumns, DeviceEventColumns } from "../../database/schema.ts";
import { answersFor } from "./answers.ts";
import { RESTARTS } from "./history.ts";
import { type NamedControl, nameControl, sampleOf } from "./naming.ts";
import { type ChangedControls, refreshSeries, seriesFor } from "./series.ts";

// Stores control runs and events of devices, sent or typed.

/** The user who typed a record; null for one that a device sent. */
export type TypedBy = { readonly name: string; readonly userId: number } | null;

interface Storing {
  readonly clinicId: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly by: TypedBy;
}

/** Stores records in their order, each once by its fp and by its dedupe key. Needs a transaction. */
export async function storeRecords(
  session: Session,
  storing: Storing,
  records: readonly QualityRecord[],
): Promise<{ outcomes: ("stored" | "unchanged")[]; changed: ChangedControls[] }> {
  const outcomes: ("stored" | "unchanged")[] = [];
  const series = new SeriesOfBatch(session, storing.clinicId);
  for (const record of records) {
    const isNew =
      record.kind === "control"
        ? await storeRun(session, storing, record, series)
        : await storeEvent(session, storing, record, series);
    outcomes.push(isNew ? "stored" : "unchanged");
  }
  const refreshed = await refreshSeries(session, storing.clinicId, series.ids());
  return { outcomes, changed: [...series.changed(), ...refreshed] };
}

/** Returns the fp of the stored record that has the fp or the dedupe key of a known one. */
export async function storedFp(session: Session, clinicId: number, record: QualityRecord): Promise<string> {
  const { fp, dedupe_key: dedupeKey, source } = record;
  const known = record.kind === "control" ? knownRun : knownEvent;
  return (await session.first(known, { clinicId, fp, deviceId: source.device_id, dedupeKey }))?.fp ?? fp;
}

/** The series that a batch of runs changes. Each is looked up once. */
class SeriesOfBatch {
  readonly #session: Session;
  readonly #clinicId: number;
  readonly #ids = new Map<string, number>();
  readonly #changed = new Map<string, { analytes: Set<string>; from: number; to: number }>();

  constructor(session: Session, clinicId: number) {
    this.#session = session;
    this.#clinicId = clinicId;
  }

  async find(run: ControlRun, { analyte, unit }: ControlResult, control: NamedControl): Promise<number> {
    const { device_id } = run.source;
    const key = { device_id, analyte, unit: unit ?? "", ...control };
    const name = JSON.stringify(key);
    const id = this.#ids.get(name) ?? (await seriesFor(this.#session, this.#clinicId, key));
    this.#ids.set(name, id);
    this.note(device_id, [analyte], Date.parse(run.measured_at));
    return id;
  }

  /** Notes that controls of a device changed, or are judged otherwise, at a time. */
  note(deviceId: string, analytes: readonly string[], at: number): void {
    const before = this.#changed.get(deviceId) ?? { analytes: new Set<string>(), from: at, to: at };
    for (const analyte of analytes) before.analytes.add(analyte);
    this.#changed.set(deviceId, { ...before, from: Math.min(before.from, at), to: Math.max(before.to, at) });
  }

  ids(): Set<number> {
    return new Set(this.#ids.values());
  }

  changed(): ChangedControls[] {
    return [...this.#changed].map(([deviceId, { analytes, ...span }]) => ({
      ...{ deviceId, analytes: [...analytes] },
      ...span,
    }));
  }
}

async function storeRun(session: Session, storing: Storing, run: ControlRun, series: SeriesOfBatch): Promise<boolean> {
  const row = runRow(storing, run);
  if ((await session.first(knownRun, keyOf(row))) !== undefined) return false;
  const answers = await answersFor(session, storing.clinicId, row);
  const control = nameControl(row, answers);
  const inserted = await session.first(insertRun, { ...row, named: control === null ? 0 : 1 });
  if (inserted === undefined) return false;
  // The first run of a device changes studies of all analytes, also before anybody names its sample.
  series.note(row.device_id, [], row.measured_at);
  const values: ControlValueColumns[] = [];
  for (const result of run.results) {
    const seriesId = control === null ? null : await series.find(run, result, control);
    values.push(valueRow(inserted.id, row.measured_at, seriesId, result));
  }
  await session.each(insertValue, values);
  return true;
}

async function storeEvent(
  session: Session,
  { clinicId, now, by }: Storing,
  event: DeviceEvent,
  series: SeriesOfBatch,
): Promise<boolean> {
  const row: DeviceEventColumns = {
    ...{ fp: event.fp, clinic_id: clinicId, dedupe_key: event.dedupe_key },
    ...{ device_id: event.source.device_id, device_name: event.device_name },
    ...{ at: Date.parse(event.at), received_at: now, event: event.event, subject: event.subject },
    ...{ lot: event.lot, expires: event.expires, count: event.count, text: event.text },
    ...{ source: by === null ? JSON.stringify(event.source) : null },
    ...{ author: by?.name ?? null, user_id: by?.userId ?? null },
  };
  if ((await session.first(knownEvent, keyOf(row))) !== undefined) return false;
  if ((await session.first(insertEvent, row)) === undefined) return false;
  if (RESTARTS.some((kind) => kind === row.event)) {
    const judged = await session.all(analytesOfDevice, { clinicId, deviceId: row.device_id });
    const analytes = judged.map(({ analyte }) => analyte);
    if (analytes.length > 0) series.note(row.device_id, analytes, row.at);
  }
  return true;
}

function runRow({ clinicId, now, by }: Storing, run: ControlRun): Omit<ControlRunColumns, "named"> {
  return {
    ...{ fp: run.fp, clinic_id: clinicId, dedupe_key: run.dedupe_key },
    ...{ device_id: run.source.device_id, device_name: run.device_name, serial: run.source.serial ?? null },
    ...{ measured_at: Date.parse(run.measured_at), received_at: now, sample: sampleOf(run) },
    ...{ material: run.material, level: run.level, lot: run.lot, expires: run.expires },
    own_check: run.results.every(({ code_source }) => code_source === "device") ? 1 : 0,
    comment: run.comments.length === 0 ? null : run.comments.join("\n"),
    source: by === null ? JSON.stringify(run.source) : null,
    ...{ author: by?.name ?? null, user_id: by?.userId ?? null },
  };
}

function valueRow(
  runId: number,
  measuredAt: number,
  seriesId: number | null,
  { target = {}, ...result }: ControlResult,
): ControlValueColumns {
  return {
    ...{ run_id: runId, series_id: seriesId, measured_at: measuredAt },
    ...{ analyte: result.analyte, code_source: result.code_source ?? null, unit: result.unit ?? "" },
    ...{ value: result.value, comparator: result.comparator ?? null, text: result.text },
    device_flag: result.device_flag ?? null,
    ...{ printed_mean: target.mean ?? null, printed_sd: target.sd ?? null },
    ...{ printed_low: target.low ?? null, printed_high: target.high ?? null },
    ...{ excluded_at: null, excluded_by: null, excluded_reason: null },
  };
}

interface RecordKey {
  readonly clinicId: number;
  readonly fp: string;
  readonly deviceId: string;
  readonly dedupeKey: string;
}

function keyOf(row: Pick<ControlRunColumns, "clinic_id" | "fp" | "device_id" | "dedupe_key">): RecordKey {
  return { clinicId: row.clinic_id, fp: row.fp, deviceId: row.device_id, dedupeKey: row.dedupe_key };
}

const analytesOfDevice = query((db, p: { clinicId: number; deviceId: string }) =>
  db
    .selectFrom("control_series")
    .select("analyte")
    .distinct()
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.deviceId),
);

/** Finds a stored record by its fp, or by the key of its device. */
function knownIn(table: "control_run" | "device_event") {
  return query((db, p: RecordKey) =>
    db
      .selectFrom(table)
      .select("fp")
      .where("clinic_id", "=", p.clinicId)
      .where((where) =>
        where.or([
          where("fp", "=", p.fp),
          where.and([where("device_id", "=", p.deviceId), where("dedupe_key", "=", p.dedupeKey)]),
        ]),
      ),
  );
}

const knownRun = knownIn("control_run");
const knownEvent = knownIn("device_event");

const insertRun = query(
  (db, p: ControlRunColumns) =>
    db
      .insertInto("control_run")
      .values({
        ...{ fp: p.fp, clinic_id: p.clinic_id, dedupe_key: p.dedupe_key },
        ...{ device_id: p.device_id, device_name: p.device_name, serial: p.serial },
        ...{ measured_at: p.measured_at, received_at: p.received_at, sample: p.sample },
        ...{ material: p.material, level: p.level, lot: p.lot, expires: p.expires, named: p.named },
        ...{ own_check: p.own_check, comment: p.comment, source: p.source, author: p.author, user_id: p.user_id },
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning("id"),
  ({ clinic_id }) => ({ clinics: [clinic_id] }),
);

const insertValue = uncachedWrite((db, p: ControlValueColumns) =>
  db.insertInto("control_value").values({
    ...{ run_id: p.run_id, series_id: p.series_id, measured_at: p.measured_at },
    ...{ analyte: p.analyte, code_source: p.code_source, unit: p.unit },
    ...{ value: p.value, comparator: p.comparator, text: p.text, device_flag: p.device_flag },
    ...{ printed_mean: p.printed_mean, printed_sd: p.printed_sd },
    ...{ printed_low: p.printed_low, printed_high: p.printed_high },
    ...{ excluded_at: p.excluded_at, excluded_by: p.excluded_by, excluded_reason: p.excluded_reason },
  }),
);

const insertEvent = query(
  (db, p: DeviceEventColumns) =>
    db
      .insertInto("device_event")
      .values({
        ...{ fp: p.fp, clinic_id: p.clinic_id, dedupe_key: p.dedupe_key },
        ...{ device_id: p.device_id, device_name: p.device_name, at: p.at, received_at: p.received_at },
        ...{ event: p.event, subject: p.subject, lot: p.lot, expires: p.expires, count: p.count, text: p.text },
        ...{ source: p.source, author: p.author, user_id: p.user_id },
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning("id"),
  ({ clinic_id }) => ({ clinics: [clinic_id] }),
);
