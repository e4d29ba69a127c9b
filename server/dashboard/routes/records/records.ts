import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { fpPattern } from "../../../../shared/api/fp.ts";
import { Soap, SoapStatus } from "../../../../shared/api/soap.ts";
import { isOpen, type RecordContent, type RecordDetail, type RecordList } from "../../types/records.ts";
import { ApiError } from "../../../http/errors.ts";
import { choice, pageParameters, readParameters, text } from "../../../http/query-parameters.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { findRecord, listRecords } from "../../../records/soap/soap-list.ts";
import type { Session } from "../../../database/query.ts";
import { findPatient } from "../../../records/patients/patients.ts";
import { amendSoap, editSoap, moveSoap, writeSoap } from "../../../records/soap/soap.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { actorOf } from "../commands.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// SOAP records: written, edited, signed, locked and amended by the clinic that owns them, read by every connected clinic.

const statuses = ["DRAFT", "IN_PROGRESS", "SIGNED", "LOCKED"] as const;
const filters = {
  ...pageParameters,
  status: choice(statuses, "Only records with this status."),
  patient: text("Only records of the patient with this fp."),
};

const { soap_type, subjective, objective, assessment, plan } = Soap.properties;
const content = { soap_type, subjective, objective, assessment, plan };
const Version = Type.String({ maxLength: 64 });
const PatientFp = Type.String({ pattern: fpPattern("patient") });

const newBody = bodyReader({ patient_fp: PatientFp, ...content });
const editBody = bodyReader({ version: Version, ...Type.Partial(Type.Object(content)).properties });
const moveBody = bodyReader({ version: Version, to: SoapStatus });

const url = "/clinic/v1/clinics/:clinic/records";
const urlOfOne = `${url}/:fp`;

export function recordRoutes(app: FastifyInstance, context: DashboardContext): void {
  readRoutes(app, context);
  writeRoutes(app, context);
  statusRoutes(app, context);
}

function readRoutes(app: FastifyInstance, { store }: DashboardContext): void {
  app.get(url, { config: { access: "reader", parameters: filters } }, async (request): Promise<RecordList> => {
    const { page, page_size, status, patient } = readParameters(request, filters);
    const filter = { clinicId: clinicOf(request).id, status, patientFp: patient, page, pageSize: page_size };
    const { items, total } = await listRecords(store, filter);
    return { items, total, page, page_size, has_more: page * page_size < total };
  });
  app.get(urlOfOne, { config: { access: "reader" } }, (request) => visibleRecord(store, request));
}

function writeRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(url, { config: { access: "staff" } }, async (request): Promise<RecordDetail> => {
    const { patient_fp, ...written } = newBody(request.body);
    const { id: clinicId } = clinicOf(request);
    return store.transaction(async (session) => {
      const patient = await findPatient(session, clinicId, patient_fp);
      if (patient?.connected !== true) throw new ApiError("RECORD.NOT_FOUND", "This patient");
      const draft = { clinicId, patientId: patient.id, content: withoutBlanks(written), now: now() };
      const fp = await writeSoap(session, draft);
      await auditCommand(session, "soap write", [fp, patient_fp], actorOf(request, now()));
      return storedRecord(session, clinicId, fp);
    });
  });
  app.patch(urlOfOne, { config: { access: "staff" } }, async (request): Promise<RecordDetail> => {
    const { version, ...changes } = editBody(request.body);
    const { id: clinicId } = clinicOf(request);
    return store.transaction(async (session) => {
      const { fp } = await ownRecord(session, request, version);
      const problem = await editSoap(session, { clinicId, fp, changes: withoutBlanks(changes), now: now() });
      if (problem !== null) refuse(problem);
      await auditCommand(session, "soap edit", [fp], actorOf(request, now()));
      return storedRecord(session, clinicId, fp);
    });
  });
}

function statusRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(`${urlOfOne}/move`, { config: { access: "staff" } }, async (request): Promise<RecordDetail> => {
    const { version, to } = moveBody(request.body);
    const { id: clinicId } = clinicOf(request);
    return store.transaction(async (session) => {
      const { fp } = await ownRecord(session, request, version);
      const problem = await moveSoap(session, { clinicId, fp, to, now: now() });
      if (problem !== null) refuse(problem);
      await auditCommand(session, `soap move ${to}`, [fp], actorOf(request, now()));
      return storedRecord(session, clinicId, fp);
    });
  });
  app.post(`${urlOfOne}/amend`, { config: { access: "staff" } }, async (request): Promise<RecordDetail> => {
    const { id: clinicId } = clinicOf(request);
    return store.transaction(async (session) => {
      const { fp, status } = await ownRecord(session, request);
      if (isOpen(status)) refuse(refusal("SOAP.OPEN", status));
      const amended = await amendSoap(session, { clinicId, fp, now: now() });
      if ("problem" in amended) refuse(amended.problem);
      await auditCommand(session, "soap amend", [fp, amended.fp], actorOf(request, now()));
      return storedRecord(session, clinicId, amended.fp);
    });
  });
}

/** The record of the path, if the clinic sees it. Any other record gets the response of a missing one. */
async function visibleRecord(session: Session, request: FastifyRequest): Promise<RecordDetail> {
  const { fp } = request.params as { fp: string };
  const record = await findRecord(session, clinicOf(request).id, fp);
  if (record === undefined) throw new ApiError("RECORD.NOT_FOUND", "This record");
  return record;
}

/** The record of the path, for a write of its owner who saw `version`. */
async function ownRecord(session: Session, request: FastifyRequest, version?: string): Promise<RecordDetail> {
  const record = await visibleRecord(session, request);
  if (!record.is_own) refuse(refusal("SOAP.OF_CLINIC", record.clinic.name));
  if (version !== undefined && version !== record.version) refuse(refusal("SOAP.CHANGED"));
  return record;
}

async function storedRecord(session: Session, clinicId: number, fp: string): Promise<RecordDetail> {
  const record = await findRecord(session, clinicId, fp);
  if (record === undefined) throw new Error(`expected the written record ${fp}, got none`);
  return record;
}

/** Stores a blank field as null: nothing is recorded. */
function withoutBlanks<Content extends Partial<RecordContent>>(written: Content): Content {
  const entries = Object.entries(written).map(([name, value]) => [name, value?.trim() === "" ? null : value]);
  return Object.fromEntries(entries) as Content;
}
