import { expect, test } from "vitest";
import type { Query, Session } from "../../../server/database/query.ts";
import { exportEntities } from "../../../server/import/export.ts";
import { selectEntities } from "../../../server/import/select-entities.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { Entity } from "../../../server/import/lines.ts";
import { findClinic } from "../../../server/records/clinics/keys.ts";
import { clinic, connection, onPostgres, patient, startServer } from "../harness.ts";
import { planOf } from "../query-plan.ts";
import { fillOf } from "../quiet-clinics.ts";
import { event, item, soap } from "../records.ts";

test("the export of a clinic has its entities alone, and that of an owner the owner with the animals and their records", async () => {
  const [ours, theirs] = [newFp("clinic"), newFp("clinic")];
  const [dog, cat, bird] = [patient(), patient(), patient()];
  const owner = { type: "customer" as const, fp: dog.owner_customer_fp, name: "Ada Örnek" };
  const other = { type: "customer" as const, fp: bird.owner_customer_fp, name: "Ece Yıldız" };
  const record = soap(dog.fp, ours);
  const visit = event(ours, { patient_fp: dog.fp });
  const mine = [clinic(ours), owner, dog, cat, connection(dog.fp, ours), connection(cat.fp, ours)];
  const rest = [clinic(theirs), other, bird, connection(bird.fp, theirs), event(theirs), item(theirs)];
  const product = item(ours);
  const { store } = await startServer([...mine, record, visit, product], [...rest]);
  const clinicId = (await findClinic(store, ours))?.id ?? 0;
  const selected = async (ownerFp: string | null) =>
    store.snapshot(async (session) => {
      const lines = async (from: AsyncIterable<Entity>) => {
        const found: Entity[] = [];
        for await (const entity of selectEntities(session, from, { clinicFp: ours, ownerFp })) found.push(entity);
        return found;
      };
      const found = await lines(exportEntities(session, clinicId));
      // The rows of the clinic alone give the lines that are selected among those of all.
      expect(found).toEqual(await lines(exportEntities(session)));
      return found.map((entity) => ("fp" in entity ? entity.fp : entity.type)).toSorted();
    });
  const ofOwner = [ours, owner.fp, dog.fp, "connection", record.fp, visit.fp];
  expect(await selected(owner.fp)).toEqual(ofOwner.toSorted());
  const whole = (await selected(null)).filter((name) => name !== "stock_movement" && name !== "inventory_batch");
  expect(whole).toEqual([...ofOwner, cat.fp, "connection", product.fp].toSorted());
});

test.skipIf(onPostgres())(
  "the export of a clinic reads no row of the animals, studies or stock of another",
  async () => {
    const plans: Promise<string>[] = [];
    const note = async <P>(asked: Query<P, unknown>, parameters: P) => {
      plans.push(planOf(fillOf(1000), asked, parameters));
      return [];
    };
    const session: Session = {
      all: note,
      first: async (asked, p) => void (await note(asked, p)),
      each: async () => {},
    };
    for await (const _entity of exportEntities(session, 7)) throw new Error("expected no line without rows");
    const plan = (await Promise.all(plans)).join("\n");
    expect(plan).toMatch(/SEARCH study USING INDEX study_patient|SEARCH study USING .*\(patient_id=\?\)/);
    expect(plan).not.toMatch(/SCAN (study|patient|customer|soap|item|event|named|clinic_patient)\b/);
    expect(plan).not.toMatch(/\(fp>\?\)/);
  },
);
