import { expect, test } from "vitest";
import { exportEntities } from "../../../server/import/export.ts";
import { selectEntities } from "../../../server/import/select-entities.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, connection, patient, startServer } from "../harness.ts";
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
  const selected = async (ownerFp: string | null) =>
    store.snapshot(async (session) => {
      const found: string[] = [];
      const chosen = selectEntities(session, exportEntities(session), { clinicFp: ours, ownerFp });
      for await (const entity of chosen) found.push("fp" in entity ? entity.fp : entity.type);
      return found.toSorted();
    });
  const ofOwner = [ours, owner.fp, dog.fp, "connection", record.fp, visit.fp];
  expect(await selected(owner.fp)).toEqual(ofOwner.toSorted());
  const whole = (await selected(null)).filter((name) => name !== "stock_movement" && name !== "inventory_batch");
  expect(whole).toEqual([...ofOwner, cat.fp, "connection", product.fp].toSorted());
});
