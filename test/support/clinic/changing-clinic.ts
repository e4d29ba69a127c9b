import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "../../../server/database/store.ts";
import { importFile } from "../../../server/import/importer.ts";
import type { CalendarEventLine, InventoryItemLine, SoapLine } from "../../../server/import/lines.ts";
import { deleteEvent } from "../../../server/records/calendar/calendar.ts";
import { fileStudies } from "../../../server/records/filing/filing.ts";
import { removeItem } from "../../../server/records/inventory/stock.ts";
import { mergeAnimals } from "../../../server/records/registry/merge.ts";
import type { PushedStudy } from "../../../shared/api/study.ts";
import type { Dice } from "../runner/dice.ts";

// A clinic whose records change, leave, merge and return, for tests of copies. Processes without a test runner use it too.

/** The records of the clinic as they were first imported, and the other clinic that is connected to them. */
export interface ClinicFacts {
  readonly own: string;
  readonly other: string;
  readonly clinicId: number;
  readonly animals: readonly { readonly fp: string; readonly updated_at: string }[];
  readonly studies: readonly PushedStudy[];
  readonly notes: readonly SoapLine[];
  readonly events: readonly CalendarEventLine[];
  readonly items: readonly InventoryItemLine[];
}

interface Round {
  readonly dice: Dice;
  readonly round: number;
  /** For the file of the import. */
  readonly folder: string;
  readonly clock: () => number;
}

/** Changes about a quarter of the records, by a file, by a push, and by hand. */
export async function changeClinic(
  store: Store,
  { own, other, clinicId, animals, studies, notes, events, items }: ClinicFacts,
  { dice, round, folder, clock }: Round,
): Promise<void> {
  const some = <T>(all: readonly T[]): T[] => all.filter(() => dice(4) === 0);
  const any = () => animals[dice(animals.length)]?.fp ?? "";
  const connected = (clinic_fp: string) =>
    some(animals).map(({ fp }) => ({ type: "connection", patient_fp: fp, clinic_fp, active: dice(2) === 0 }));
  const lines = [
    ...some(animals).map((each) => ({ ...each, name: `Name ${round}` })),
    ...some(animals)
      .slice(0, 2)
      .map((each) => ({ ...each, deleted_at: each.updated_at })),
    ...connected(own),
    ...connected(other),
    ...some(notes).map((each) => ({ ...each, plan: `Plan ${round}`, patient_fp: any() })),
    ...some(events).map((each) => ({ ...each, title: `Title ${round}` })),
    ...some(items).map((each) => ({ ...each, quantity_on_hand: dice(100) })),
  ];
  const file = join(folder, `changes-${round}.ndjson`);
  writeFileSync(file, lines.map((line) => JSON.stringify(line)).join("\n"));
  await importFile(store, file, () => undefined, clock, null);
  rmSync(file);
  const revised = some(studies).map((each) => ({ ...each, revision: round + 2, device_name: `Device ${round}` }));
  await store.transaction(async (session) => fileStudies(session, clinicId, revised, clock()));
  await store.transaction(async (session) => {
    for (const { fp } of some(events).slice(0, 1)) await deleteEvent(session, { fp, clinic_id: clinicId }, clock());
    for (const { fp } of some(items).slice(0, 1)) await removeItem(session, fp, clock());
    // Refused for a removed animal.
    const pair = { clinicId, survivor: animals[0]?.fp ?? "", merged: any() };
    await mergeAnimals(session, pair, { now: clock(), clock, served: null, batch: null });
  });
}
