import type { AnswerBody, ControlQuestion } from "../../dashboard/types/quality.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import { sql } from "kysely";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { ControlRunColumns, Tables } from "../../database/schema.ts";
import { type Answer, nameControl } from "./naming.ts";
import { type ChangedControls, refreshSeries, seriesFor } from "./series.ts";

// Samples whose level or lot no device names: one question for each, and the clinic's answers.

type Actor = Required<AuditActor>;

/** Returns the answers for a sample, in the order of their times. */
export async function answersFor(
  session: Session,
  clinicId: number,
  { device_id, sample, level }: Pick<ControlRunColumns, "device_id" | "sample" | "level">,
): Promise<Answer[]> {
  return session.all(ofSample, { clinicId, device_id, sample, sentLevel: level ?? "" });
}

/** Lists the samples that nobody has named, with the last run first. */
export async function listQuestions(session: Session, clinicId: number): Promise<ControlQuestion[]> {
  const rows = await session.all(unnamed, { clinicId });
  return rows.map(({ last_at, ...row }) => ({
    ...row,
    last_at: new Date(last_at).toISOString(),
  }));
}

/**
 * Stores an answer, and moves the runs of the sample to the series that it names. Needs a transaction.
 * @param fromAt time of measurement from which it holds, ms since 1970; 0 for the first answer
 * @returns undefined if no run of the clinic that lacks its level or lot has the sample
 */
export async function answerQuestion(
  session: Session,
  { device_id, sample, sent_level, ...named }: Omit<AnswerBody, "from">,
  fromAt: number,
  actor: Actor,
): Promise<ChangedControls[] | undefined> {
  const { clinicId } = actor;
  const key = { clinicId, device_id, sample, sentLevel: sent_level ?? "" };
  const kinds = await session.all(kindsOfSample, key);
  if (kinds.length === 0) return undefined;
  await session.all(insertAnswer, {
    ...{ clinic_id: clinicId, device_id, sample, sent_level: key.sentLevel, from_at: fromAt },
    ...{ material: named.material, level: named.level, lot: named.lot, expires: named.expires },
    ...{ author: actor.by, user_id: actor.userId, at: actor.now },
  });
  await auditCommand(session, `control name: ${named.level}, lot ${named.lot}`, [`${device_id} ${sample}`], actor);
  const refreshed = await moveRuns(session, key, kinds);
  const analytes = [...new Set(kinds.map(({ analyte }) => analyte))];
  const moved = await session.first(spanOfSample, { ...key, from: fromAt });
  return [{ deviceId: device_id, analytes, from: moved?.at ?? actor.now, to: moved?.last ?? actor.now }, ...refreshed];
}

interface Sample {
  readonly clinicId: number;
  readonly device_id: string;
  readonly sample: string;
  /** "" for none. */
  readonly sentLevel: string;
}

/** Values of a sample that the device names alike, of one analyte. */
type Kind = SentKind & { readonly analyte: string; readonly unit: string };
type SentKind = Pick<ControlRunColumns, "material" | "level" | "lot" | "expires">;

/** Moves the values of a sample to the series of its answers: one statement for each kind and answer, however many runs there are. */
async function moveRuns(session: Session, key: Sample, kinds: readonly Kind[]): Promise<ChangedControls[]> {
  const { clinicId, device_id } = key;
  const answers = await session.all(ofSample, key);
  const touched = new Set((await session.all(seriesOfSample, key)).flatMap(({ series_id: id }) => id ?? []));
  for (const [index, { from_at: from }] of answers.entries()) {
    const span = { from, until: answers[index + 1]?.from_at ?? Number.MAX_SAFE_INTEGER };
    for (const kind of kinds) {
      const control = nameControl({ ...kind, measured_at: from }, answers);
      if (control === null) continue;
      const { analyte, unit, material, lot } = kind;
      const seriesId = await seriesFor(session, clinicId, { device_id, analyte, unit, ...control });
      touched.add(seriesId);
      const sent = { material: material ?? "", lot: lot ?? "", analyte, unit };
      await session.all(moveValues, { ...key, ...span, ...sent, seriesId });
    }
    await session.all(setNamed, { ...key, ...span });
  }
  return refreshSeries(session, clinicId, touched);
}

const ofSample = query((db, p: Sample) =>
  db
    .selectFrom("control_name")
    .select(["from_at", "material", "level", "lot", "expires"])
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.device_id)
    .where("sample", "=", p.sample)
    .where("sent_level", "=", p.sentLevel)
    .orderBy("from_at"),
);

const unnamed = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("control_run")
    .select(["device_id", "sample", "material", "level", "lot"])
    .select((select) => [
      select.fn.max("device_name").as("device_name"),
      select.fn.countAll<number>().as("runs"),
      select.fn.max("measured_at").as("last_at"),
    ])
    .where("clinic_id", "=", p.clinicId)
    .where("named", "=", 0)
    .groupBy(["device_id", "sample", "material", "level", "lot"])
    .orderBy((order) => order.fn.max("measured_at"), "desc")
    .limit(100),
);

const insertAnswer = query(
  (db, p: Tables["control_name"]) =>
    db
      .insertInto("control_name")
      .values({
        ...{ clinic_id: p.clinic_id, device_id: p.device_id, sample: p.sample, sent_level: p.sent_level },
        ...{ from_at: p.from_at, material: p.material, level: p.level, lot: p.lot, expires: p.expires },
        ...{ author: p.author, user_id: p.user_id, at: p.at },
      })
      .onConflict((conflict) =>
        conflict.columns(["clinic_id", "device_id", "sample", "sent_level", "from_at"]).doUpdateSet({
          ...{ material: p.material, level: p.level, lot: p.lot, expires: p.expires },
          ...{ author: p.author, user_id: p.user_id, at: p.at },
        }),
      ),
  ({ clinic_id }) => ({ clinics: [clinic_id] }),
);

/** Runs that lack a part of their name take it from the answers; the device's own name wins in the others. */
const isAsked = sql<boolean>`(control_run.level is null or control_run.lot is null)`;
const sentLevel = sql<string>`coalesce(control_run.level, '')`;

const kindsOfSample = query((db, p: Sample) =>
  db
    .selectFrom("control_run")
    .innerJoin("control_value", "control_value.run_id", "control_run.id")
    .select(["control_run.material", "control_run.level", "control_run.lot", "control_run.expires"])
    .select(["control_value.analyte", "control_value.unit"])
    .distinct()
    .where("control_run.clinic_id", "=", p.clinicId)
    .where("control_run.device_id", "=", p.device_id)
    .where("control_run.sample", "=", p.sample)
    .where(sentLevel, "=", p.sentLevel)
    .where(isAsked),
);

const spanOfSample = query((db, p: Sample & { from: number }) =>
  db
    .selectFrom("control_run")
    .select((select) => [select.fn.min("measured_at").as("at"), select.fn.max("measured_at").as("last")])
    .where("control_run.clinic_id", "=", p.clinicId)
    .where("control_run.device_id", "=", p.device_id)
    .where("control_run.sample", "=", p.sample)
    .where(sentLevel, "=", p.sentLevel)
    .where("control_run.measured_at", ">=", p.from),
);

const seriesOfSample = query((db, p: Sample) =>
  db
    .selectFrom("control_run")
    .innerJoin("control_value", "control_value.run_id", "control_run.id")
    .select("control_value.series_id")
    .distinct()
    .where("control_run.clinic_id", "=", p.clinicId)
    .where("control_run.device_id", "=", p.device_id)
    .where("control_run.sample", "=", p.sample)
    .where(sentLevel, "=", p.sentLevel)
    .where(isAsked),
);

interface Span {
  readonly from: number;
  /** Exclusive. */
  readonly until: number;
}

const moveValues = uncachedWrite(
  (db, p: Sample & Span & { material: string; lot: string; analyte: string; unit: string; seriesId: number }) =>
    db
      .updateTable("control_value")
      .set({ series_id: p.seriesId })
      .where("analyte", "=", p.analyte)
      .where("unit", "=", p.unit)
      .where("run_id", "in", (runs) =>
        runs
          .selectFrom("control_run")
          .select("control_run.id")
          .where("control_run.clinic_id", "=", p.clinicId)
          .where("control_run.device_id", "=", p.device_id)
          .where("control_run.sample", "=", p.sample)
          .where(sentLevel, "=", p.sentLevel)
          .where(isAsked)
          .where(sql<string>`coalesce(control_run.material, '')`, "=", p.material)
          .where(sql<string>`coalesce(control_run.lot, '')`, "=", p.lot)
          .where("control_run.measured_at", ">=", p.from)
          .where("control_run.measured_at", "<", p.until),
      ),
);

const setNamed = uncachedWrite((db, p: Sample & Span) =>
  db
    .updateTable("control_run")
    .set({ named: 1 })
    .where("clinic_id", "=", p.clinicId)
    .where("device_id", "=", p.device_id)
    .where("sample", "=", p.sample)
    .where(sentLevel, "=", p.sentLevel)
    .where(isAsked)
    .where("measured_at", ">=", p.from)
    .where("measured_at", "<", p.until),
);
