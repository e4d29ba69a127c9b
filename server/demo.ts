import type { ClinicLine, ConnectionLine, CustomerLine, Entity, PatientLine, UserLine } from "./entities.ts";

// Two made-up clinics that share some patients. The fps are fixed, so that the demo can be started again on its own data.

export const demoClinics = {
  kadikoy: "clinic_01K9DEM0000000000000C00001",
  bosphorus: "clinic_01K9DEM0000000000000C00002",
} as const;

/** The demo's entities, as an import file has them. */
export function demoEntities(): Entity[] {
  const { kadikoy, bosphorus } = demoClinics;
  return [
    clinic(kadikoy, "Kadıköy Animal Hospital"),
    clinic(bosphorus, "Bosphorus Small Animal Practice"),
    user("user_01K9DEM0000000000000E00001", "Elif Aydın", kadikoy),
    user("user_01K9DEM0000000000000E00002", "Mert Doğan", bosphorus),
    customer(owners.istanbul, "Europe/Istanbul"),
    customer(owners.izmir, "Europe/Istanbul"),
    customer(owners.london, "Europe/London"),
    customer(owners.berlin, "Europe/Berlin"),

    ...patient([kadikoy, bosphorus], {
      fp: "patient_01K9DEM0000000000000P00001",
      name: "Karabaş",
      species: "dog",
      breed: "Kangal",
      sex: "male_neutered",
      date_of_birth: "2019-04-12",
      weight_kg: 54.2,
      owner_customer_fp: owners.istanbul,
      external_ids: ["10021", "4711", "792090000124031"],
    }),
    ...patient([kadikoy], {
      fp: "patient_01K9DEM0000000000000P00002",
      name: "Pamuk",
      species: "cat",
      breed: "Turkish Van",
      sex: "female_spayed",
      date_of_birth: "2021-09-30",
      weight_kg: 4.1,
      owner_customer_fp: owners.istanbul,
      external_ids: ["10022", "4712", "792090000124032"],
    }),
    ...patient([kadikoy], {
      fp: "patient_01K9DEM0000000000000P00003",
      name: "Luna",
      species: "dog",
      breed: "Golden Retriever",
      sex: "female",
      date_of_birth: "2026-05-02",
      weight_kg: 21.7,
      owner_customer_fp: owners.izmir,
      external_ids: ["10023"],
    }),
    ...patient([kadikoy, bosphorus], {
      fp: "patient_01K9DEM0000000000000P00004",
      name: "Fındık",
      species: "rabbit",
      breed: "Holland Lop",
      sex: "male",
      date_of_birth: "2023-02-18",
      weight_kg: 1.9,
      owner_customer_fp: owners.london,
      external_ids: ["10024", "B-0311"],
    }),
    ...patient([bosphorus], {
      fp: "patient_01K9DEM0000000000000P00005",
      name: "Zümrüt",
      species: "bird",
      breed: "Rose-ringed parakeet",
      sex: "unknown",
      date_of_birth: null,
      weight_kg: 0.12,
      owner_customer_fp: owners.london,
      external_ids: ["B-0312"],
    }),
    ...patient([bosphorus], {
      fp: "patient_01K9DEM0000000000000P00006",
      name: "Luna",
      species: "cat",
      breed: "Domestic Shorthair",
      sex: "female",
      date_of_birth: "2013-11-05",
      weight_kg: 3.6,
      owner_customer_fp: owners.berlin,
      external_ids: ["B-0313", "276097200123456"],
    }),
    ...patient([bosphorus], {
      fp: "patient_01K9DEM0000000000000P00007",
      name: "Rex",
      species: "dog",
      breed: null,
      sex: "male",
      date_of_birth: "2017-07-21",
      weight_kg: 31,
      owner_customer_fp: owners.berlin,
      external_ids: ["B-0314", "276097200123457"],
    }),
  ];
}

const owners = {
  istanbul: "customer_01K9DEM0000000000000D00001",
  izmir: "customer_01K9DEM0000000000000D00002",
  london: "customer_01K9DEM0000000000000D00003",
  berlin: "customer_01K9DEM0000000000000D00004",
} as const;

function clinic(fp: string, name: string): ClinicLine {
  return { type: "clinic", fp, name };
}

function user(fp: string, name: string, clinic_fp: string): UserLine {
  return { type: "user", fp, name, clinic_fp };
}

function customer(fp: string, time_zone: string): CustomerLine {
  return { type: "customer", fp, locale: { time_zone } };
}

function patient(
  clinics: readonly string[],
  described: Omit<PatientLine, "type" | "created_at" | "updated_at" | "deleted_at">,
): (PatientLine | ConnectionLine)[] {
  const since = "2026-11-02T08:00:00.000Z";
  return [
    { type: "patient", ...described, created_at: since, updated_at: since, deleted_at: null },
    ...clinics.map(
      (clinic_fp): ConnectionLine => ({ type: "connection", patient_fp: described.fp, clinic_fp, active: true }),
    ),
  ];
}
