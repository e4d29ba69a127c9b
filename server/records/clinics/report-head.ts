import { query, type Session, uncachedWrite } from "../../database/query.ts";

// The head of a clinic's reports for owners.

export interface ReportHead {
  address: string;
  phone: string;
  /** A data URL of a PNG or JPEG; null without one. */
  logo: string | null;
}

export async function readReportHead(session: Session, clinicId: number): Promise<ReportHead> {
  return (await session.first(head, { clinicId })) ?? { address: "", phone: "", logo: null };
}

export async function writeReportHead(session: Session, clinicId: number, stored: ReportHead): Promise<void> {
  await session.all(upsert, { clinicId, ...stored });
}

const head = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic_report").select(["address", "phone", "logo"]).where("clinic_id", "=", p.clinicId),
);

const upsert = uncachedWrite((db, p: ReportHead & { clinicId: number }) =>
  db
    .insertInto("clinic_report")
    .values({ clinic_id: p.clinicId, address: p.address, phone: p.phone, logo: p.logo })
    .onConflict((conflict) =>
      conflict.column("clinic_id").doUpdateSet({ address: p.address, phone: p.phone, logo: p.logo }),
    ),
);
