import type {
  CalendarEventLine,
  ClinicLine,
  ConnectionLine,
  CustomerLine,
  Entity,
  InventoryBatchLine,
  InventoryItemLine,
  PatientLine,
  SoapLine,
  UserLine,
} from "../import/lines.ts";

// Two made-up clinics that share some patients. The fps are fixed, so that the demo can be started again on its own data.

export const demoClinics = {
  kadikoy: "clinic_01K9DEM0000000000000C00001",
  moda: "clinic_01K9DEM0000000000000C00002",
} as const;

const { kadikoy, moda } = demoClinics;

const owners = {
  istanbul: "customer_01K9DEM0000000000000D00001",
  izmir: "customer_01K9DEM0000000000000D00002",
  london: "customer_01K9DEM0000000000000D00003",
  berlin: "customer_01K9DEM0000000000000D00004",
} as const;

const patients: readonly (PatientLine | ConnectionLine)[] = [
  ...patient([kadikoy, moda], {
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
  ...patient([kadikoy, moda], {
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
  ...patient([moda], {
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
  ...patient([moda], {
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
  ...patient([moda], {
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

/** The demo's import file. */
export function demoFile(): string {
  return demoEntities()
    .map((entity) => `${JSON.stringify(entity)}\n`)
    .join("");
}

/** The demo's entities, as an import file has them. */
export function demoEntities(): Entity[] {
  return [
    clinic(kadikoy, "Kadıköy Animal Hospital"),
    clinic(moda, "Moda Small Animal Practice"),
    user("user_01K9DEM0000000000000E00001", "Elif Aydın", kadikoy),
    user("user_01K9DEM0000000000000E00002", "Mert Doğan", moda),
    customer(owners.istanbul, "Europe/Istanbul"),
    customer(owners.izmir, "Europe/Istanbul"),
    customer(owners.london, "Europe/London"),
    customer(owners.berlin, "Europe/Berlin"),
    ...patients,
    ...records(),
    ...events(),
    ...stock(),
  ];
}

const karabas = "patient_01K9DEM0000000000000P00001";
const pamuk = "patient_01K9DEM0000000000000P00002";
const findik = "patient_01K9DEM0000000000000P00004";
const zumrut = "patient_01K9DEM0000000000000P00005";

function records(): SoapLine[] {
  const lameness = {
    type: "soap",
    fp: "soap_01K9DEM0000000000000S00001",
    patient_fp: karabas,
    soap_type: "EXAMINATION",
    status: "LOCKED",
    subjective: "Owner reports lameness of the left hind leg since the weekend, worse after rest. Eats well.",
    objective: "T 38.6 C, HR 92, RR 24. Drawer sign negative, pain on extension of the left hip.",
    assessment: "Suspected coxarthrosis, left.",
    plan: "Meloxicam 0.1 mg/kg for 7 days, chemistry profile before, radiographs if no better in a week.",
    performed_by_clinic_fp: kadikoy,
    signed_at: "2026-11-09T10:12:00.000Z",
    created_at: "2026-11-09T09:40:00.000Z",
    amends_fp: null,
  } as const;
  return [
    lameness,
    {
      ...lameness,
      fp: "soap_01K9DEM0000000000000S00002",
      status: "SIGNED",
      assessment: "Suspected coxarthrosis, RIGHT. The record of this morning named the wrong side.",
      objective: "T 38.6 C, HR 92, RR 24. Drawer sign negative, pain on extension of the right hip.",
      subjective: "Owner reports lameness of the right hind leg since the weekend, worse after rest. Eats well.",
      signed_at: "2026-11-09T15:05:00.000Z",
      created_at: "2026-11-09T15:01:00.000Z",
      amends_fp: lameness.fp,
    },
    {
      ...lameness,
      fp: "soap_01K9DEM0000000000000S00003",
      patient_fp: findik,
      status: "SIGNED",
      subjective: "Eats less hay for three days, fewer droppings.",
      objective: "T 38.9 C, abdomen soft, spurs on the lower cheek teeth.",
      assessment: "Dental malocclusion, early GI stasis.",
      plan: "Fluids, analgesia, tooth trimming under sedation.",
      performed_by_clinic_fp: moda,
      signed_at: "2026-11-16T11:30:00.000Z",
      created_at: "2026-11-16T10:50:00.000Z",
    },
    {
      ...lameness,
      fp: "soap_01K9DEM0000000000000S00004",
      patient_fp: pamuk,
      status: "DRAFT",
      subjective: "Drinks more than usual.",
      objective: null,
      assessment: null,
      plan: null,
      signed_at: null,
      created_at: "2026-11-20T08:15:00.000Z",
    },
  ];
}

function events(): CalendarEventLine[] {
  const visit = {
    type: "calendar_event",
    fp: "calevt_01K9DEM0000000000000V00001",
    title: "Karabaş: control of the hip",
    event_type: "CHECKUP",
    status: "SCHEDULED",
    start_at: "2026-11-23T07:30:00.000Z",
    end_at: "2026-11-23T08:00:00.000Z",
    patient_fp: karabas,
    assigned_user_fp: "user_01K9DEM0000000000000E00001",
    clinic_fp: kadikoy,
  } as const;
  const atBosphorus = { assigned_user_fp: "user_01K9DEM0000000000000E00002", clinic_fp: moda };
  return [
    visit,
    {
      ...visit,
      fp: "calevt_01K9DEM0000000000000V00002",
      title: "Pamuk: blood and urine",
      event_type: "APPOINTMENT",
      status: "CHECKED_IN",
      start_at: "2026-11-21T08:00:00.000Z",
      end_at: "2026-11-21T08:30:00.000Z",
      patient_fp: pamuk,
    },
    {
      ...visit,
      fp: "calevt_01K9DEM0000000000000V00003",
      title: "Food and flea drops over the counter",
      event_type: "SALE",
      status: "CLOSED",
      start_at: "2026-11-20T13:10:00.000Z",
      end_at: "2026-11-20T13:20:00.000Z",
      patient_fp: null,
      assigned_user_fp: null,
    },
    {
      ...visit,
      ...atBosphorus,
      fp: "calevt_01K9DEM0000000000000V00004",
      title: "Fındık: tooth trimming",
      event_type: "SURGERY",
      start_at: "2026-11-24T09:00:00.000Z",
      end_at: "2026-11-24T10:00:00.000Z",
      patient_fp: findik,
    },
    {
      ...visit,
      ...atBosphorus,
      fp: "calevt_01K9DEM0000000000000V00005",
      title: "Zümrüt: yearly control",
      status: "CANCELLED",
      start_at: "2026-11-25T12:00:00.000Z",
      end_at: "2026-11-25T12:20:00.000Z",
      patient_fp: zumrut,
    },
  ];
}

function stock(): (InventoryItemLine | InventoryBatchLine)[] {
  const rabies = {
    type: "inventory_item",
    fp: "invitem_01K9DEM0000000000000J00001",
    name: "Rabies vaccine",
    category: "VACCINE",
    sku: "VAC-RAB-1",
    unit: "vial",
    quantity_on_hand: 24,
    low_stock_threshold: 10,
    unit_price_cents: 65_000,
    currency: "TRY",
    is_virtual: false,
    clinic_fp: kadikoy,
  } as const;
  const meloxicam = {
    ...rabies,
    fp: "invitem_01K9DEM0000000000000J00002",
    name: "Meloxicam 1.5 mg/ml oral suspension",
    category: "MEDICATION",
    sku: "MED-MEL-15",
    unit: "bottle",
    quantity_on_hand: 3,
    low_stock_threshold: 5,
    unit_price_cents: 42_500,
  };
  const consultation = {
    ...rabies,
    fp: "invitem_01K9DEM0000000000000J00003",
    name: "Consultation",
    category: "SERVICE",
    sku: null,
    unit: "visit",
    quantity_on_hand: 0,
    low_stock_threshold: 0,
    unit_price_cents: 120_000,
    is_virtual: true,
  };
  const syringes = {
    ...rabies,
    fp: "invitem_01K9DEM0000000000000J00004",
    name: "Syringe 2 ml",
    category: "CONSUMABLE",
    sku: "CON-SYR-2",
    unit: "piece",
    quantity_on_hand: 180,
    low_stock_threshold: 200,
    unit_price_cents: 15,
    currency: "EUR",
    clinic_fp: moda,
  } as const;
  return [
    rabies,
    meloxicam,
    consultation,
    { ...consultation, fp: "invitem_01K9DEM0000000000000J00005", clinic_fp: moda, currency: "EUR" },
    syringes,
    batch(rabies.fp, "RB2411", 4, "2026-06-15T07:00:00.000Z", "2027-01-31"),
    batch(rabies.fp, "RB2602", 20, "2026-10-05T07:00:00.000Z", "2027-09-30"),
    batch(meloxicam.fp, "M1188", 3, "2026-09-01T07:00:00.000Z", "2028-02-29"),
    batch(syringes.fp, "S-77", 80, "2026-03-01T07:00:00.000Z", null),
    batch(syringes.fp, "S-91", 100, "2026-08-20T07:00:00.000Z", null),
  ];
}

function batch(
  item_fp: string,
  lot: string,
  quantity: number,
  received_at: string,
  expiry_date: string | null,
): InventoryBatchLine {
  return { type: "inventory_batch", item_fp, lot, quantity, received_at, expiry_date };
}

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
