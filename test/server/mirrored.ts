import Sqlite from "better-sqlite3";
import { query, type Session } from "../../server/database/query.ts";
import { newFp } from "../../shared/api/fp.ts";
import type { ClinicFacts } from "../support/clinic/changing-clinic.ts";
import {
  clinic,
  connection,
  importText,
  needNoConfirmation,
  patient,
  startLimitedServer,
  study,
  type TestServer,
} from "./harness.ts";
import { findClinic } from "../../server/records/clinics/keys.ts";
import { defaultLimits } from "../../server/http/rate-limit/rate-limiter.ts";
import { event, item, soap } from "./records.ts";

// The mirror of shared/client beside the database that it copies.

export const MIRRORED = ["clinic.patient.view", "clinic.calendar.view", "clinic.inventory.view"] as const;

const plenty = { minute: 1_000_000, hour: 1_000_000 };

/** Starts a server with a clinic of 20 animals, and their records. A key of the type integration has the given requests a minute. */
export async function startMirrored(minute: number): Promise<{ server: TestServer; facts: ClinicFacts }> {
  const [own, other] = [newFp("clinic"), newFp("clinic")];
  const limits = { ...defaultLimits, integration: { minute, hour: 10_000 }, device: plenty, ingest: plenty };
  const server = await startLimitedServer(limits, clinic(own), clinic(other));
  await needNoConfirmation(server.store);
  const animals = Array.from({ length: 20 }, () => patient());
  const facts = {
    ...{ own, other, animals, clinicId: (await findClinic(server.store, own))?.id ?? 0 },
    studies: animals.map(({ fp }) => study({ patient_fp: fp, results: [] })),
    notes: animals.map(({ fp }) => soap(fp, own)),
    events: animals.map(() => event(own)),
    items: animals.map((_, index) => item(own, { name: `Item ${index}` })),
  };
  const connections = animals.map(({ fp }) => connection(fp, own));
  const lines = [...animals, ...connections, ...facts.notes, ...facts.events, ...facts.items];
  await importText(server.store, lines.map((line) => JSON.stringify(line)).join("\n"), server.clock.now);
  await server.push(await server.makeKey(own, ["clinic.lab.ingest"]), ...facts.studies);
  return { server, facts };
}

/** The records of the file by their fps, as the endpoints of single records have them. */
export function mirrored(file: string): Map<string, unknown> {
  const db = new Sqlite(file);
  const rows = db.prepare("select fp, kind, body from record").all() as { fp: string; kind: string; body: string }[];
  db.close();
  return new Map(
    rows.map(({ fp, kind, body }) => {
      const { updated_at, ...record } = JSON.parse(body) as { updated_at?: string };
      return [fp, kind === "patient" ? { ...record, updated_at } : record];
    }),
  );
}

/** What the clinic reads: the fps from the tables, the records from the endpoints of single ones and the published lists. */
export async function readEverything(
  server: TestServer,
  { own, clinicId }: ClinicFacts,
): Promise<Map<string, unknown>> {
  const key = await server.makeFreshKey(own, [...MIRRORED], { type: "device" });
  const found = new Map<string, unknown>();
  const paths = { patient: "patients", cds: "lab/diagnostics", soap: "soap" };
  for (const fp of await readableFps(server.store, clinicId)) {
    const path = paths[fp.split("_")[0] as keyof typeof paths];
    found.set(fp, (await server.get(key, `/api/v1/${path}/${fp}`)).body.data);
  }
  const events = await server.get(key, "/api/v1/calendar/events?start_date=2026-11-01&end_date=2026-12-31");
  const items = await server.get(key, "/api/v1/inventory?page_size=100");
  const lists = [...(events.body as unknown as { fp: string }[]), ...(items.body.data.items as { fp: string }[])];
  for (const record of lists) found.set(record.fp, record);
  return found;
}

/** Patients that the clinic lists, their studies and SOAP records, from the tables. */
async function readableFps(session: Session, clinicId: number): Promise<string[]> {
  const patients = await session.all(listedPatients, { clinicId });
  const fps = await Promise.all(
    patients.map(async ({ id, fp }) => [fp, ...(await session.all(recordsOf, { id })).map((row) => row.fp)]),
  );
  return fps.flat();
}

const listedPatients = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_patient")
    .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
    .select(["patient.id", "patient.fp"])
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.active", "=", 1)
    .where("patient.deleted_at", "is", null),
);

const recordsOf = query((db, p: { id: number }) =>
  db
    .selectFrom("study")
    .select("fp")
    .where("patient_id", "=", p.id)
    .unionAll(db.selectFrom("soap").select("fp").where("patient_id", "=", p.id)),
);
