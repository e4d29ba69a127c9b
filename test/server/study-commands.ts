import type { AuditActor } from "../../server/records/audit/audit.ts";
import type { Session } from "../../server/database/query.ts";
import { findOwnPatient } from "../../server/records/unmatched/unmatched-page.ts";
import { candidatesFor as candidatesOf } from "../../server/records/unmatched/candidates.ts";
import * as history from "../../server/records/studies/history.ts";
import * as commands from "../../server/records/unmatched/commands.ts";
import { findStoredStudy } from "../../server/records/studies/studies.ts";

// Commands and views of a study by its fp. They read the study and its patient as the routes do.

type On = AuditActor & { readonly fp: string };
type To = On & { readonly patientFp: string; readonly typedSpecies?: string };
type Moved = To & { readonly reason: string };

export async function assignStudy(session: Session, { fp, patientFp, typedSpecies = "", ...actor }: To) {
  const stored = await read(session, fp);
  const patient = await patientOf(session, stored.clinic_id, patientFp);
  return commands.assignStudy(session, stored, { patient, typedSpecies, checked: [] }, actor);
}

export async function rejectStudy(session: Session, { fp, reason, ...actor }: On & { readonly reason: string }) {
  return commands.rejectStudy(session, await read(session, fp), reason, actor);
}

export async function reopenStudy(session: Session, { fp, ...actor }: On) {
  return commands.reopenStudy(session, await read(session, fp), actor);
}

export async function moveStudy(session: Session, { fp, patientFp, typedSpecies = "", reason, ...actor }: Moved) {
  const stored = await read(session, fp);
  const patient = await patientOf(session, stored.clinic_id, patientFp);
  const clinicId = stored.clinic_id ?? 0;
  return commands.moveStudy(session, stored, { patient, typedSpecies, reason }, { clinicId, ...actor });
}

export async function viewStudy(session: Session, fp: string) {
  return history.viewStudy(session, await read(session, fp));
}

export async function historyOf(session: Session, fp: string) {
  return history.historyOf(session, await read(session, fp));
}

export async function candidatesFor(session: Session, fp: string) {
  return candidatesOf(session, await read(session, fp));
}

async function read(session: Session, fp: string) {
  const stored = await findStoredStudy(session, fp);
  if (stored === undefined) throw new Error(`no study ${fp}`);
  return stored;
}

async function patientOf(session: Session, clinicId: number | null, fp: string) {
  const patient = await findOwnPatient(session, clinicId ?? 0, fp);
  if (patient === undefined) throw new Error(`the clinic has no patient ${fp}`);
  return patient;
}
