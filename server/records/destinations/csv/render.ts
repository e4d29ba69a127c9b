import { createHash } from "node:crypto";
import { query, type Session } from "../../../database/query.ts";
import { csvFileName, csvOfStudy, type CsvStudy } from "./study-file.ts";
import { loadForDestination } from "../hl7/content.ts";
import { withdrawalOf } from "../held.ts";
import type { Render, Rendered } from "../queue.ts";

/** The file of a study that a folder has. */
interface HeldFile {
  readonly patient_fp: string;
  /** Checksum of all cells except the time of the file. */
  readonly sha256: string;
  /** The study, to take it back. */
  readonly study: CsvStudy;
}

/**
 * Makes the CSV files of a destination: a complete file for each state of a study. A study that moved to another animal, or away from
 * its own, gets a file that withdraws it first.
 */
export function renderCsv(session: Session, now: () => number): Render {
  return async ({ destination, studyFp, before }): Promise<Rendered | null> => {
    const loaded = await loadForDestination(session, destination.clinic_id, studyFp);
    if (loaded === undefined) return null;
    const { revision, study: content, zone } = loaded;
    const study =
      content === null ? null : { ...content, revision, ...(await session.first(factsOf, { fp: studyFp })) };
    const nameOf = (isWithdrawn: boolean) => csvFileName(destination.slug, studyFp, revision, isWithdrawn);
    const made = { at: now(), zone };
    const wrong = [...before].filter(([animal]) => animal !== study?.patient.fp);
    const [first] = wrong;
    if (first !== undefined) {
      const [animal, { acknowledged, uncertain }] = first;
      const held = parsed(uncertain.at(-1) ?? acknowledged);
      if (held === null) throw new Error(`nothing of ${studyFp} is held`);
      const payload = csvOfStudy({ ...held.study, revision }, { ...made, isWithdrawn: true });
      const continues = study !== null || wrong.length > 1;
      return { payload, fileName: nameOf(true), revision, held: withdrawalOf(animal), continues };
    }
    if (study === null) return null;
    const whole: CsvStudy = { microchip: null, modality: "", ...study };
    const bytes = csvOfStudy(whole, { at: 0, zone, isWithdrawn: false });
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const { acknowledged = null, uncertain = [] } = before.get(study.patient.fp) ?? {};
    if (uncertain.length === 0 && parsed(acknowledged)?.sha256 === sha256) return null;
    const file: HeldFile = { patient_fp: study.patient.fp, sha256, study: whole };
    const payload = csvOfStudy(whole, { ...made, isWithdrawn: false });
    return { payload, fileName: nameOf(false), revision, held: JSON.stringify(file), continues: false };
  };
}

function parsed(held: string | null): HeldFile | null {
  return held === null ? null : (JSON.parse(held) as HeldFile);
}

/** The kind of the study, and the microchip of its animal. */
const factsOf = query((db, p: { fp: string }) =>
  db
    .selectFrom("study")
    .select("modality")
    .select((select) =>
      select
        .selectFrom("patient_identifier")
        .select("identifier")
        .whereRef("patient_identifier.patient_id", "=", "study.patient_id")
        .where("type", "=", "microchip")
        .orderBy("position")
        .orderBy("identifier")
        .limit(1)
        .as("microchip"),
    )
    .where("fp", "=", p.fp),
);
