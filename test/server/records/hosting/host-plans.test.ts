import { expect, test } from "vitest";
import type { Query, Session } from "../../../../server/database/query.ts";
import type { Store } from "../../../../server/database/store.ts";
import { countHoldings } from "../../../../server/records/hosting/erase-clinic.ts";
import { listHostedClinics } from "../../../../server/records/hosting/hosted-clinics.ts";
import { readMeters } from "../../../../server/records/hosting/meters.ts";
import { measureNext } from "../../../../server/records/hosting/storage.ts";
import { listCommands } from "../../../../server/records/hosting/operator-audit.ts";
import { noon, onPostgres } from "../../harness.ts";
import { planOf } from "../../query-plan.ts";
import { fillOf } from "../../quiet-clinics.ts";

// Goal: the list of the clinics costs what arrived today, and the page of a clinic what this clinic has.

// PostgreSQL chooses by its counts of the rows.

/** @returns the plans on SQLite of the queries that the work runs */
async function plansOf(work: (session: Session) => Promise<unknown>): Promise<string> {
  const plans: Promise<string>[] = [];
  const note = async <P>(asked: Query<P, unknown>, parameters: P) => {
    plans.push(planOf(fillOf(200), asked, parameters));
    return [];
  };
  await work({
    all: note,
    first: async (asked, parameters) => void (await note(asked, parameters)),
    each: async () => {},
  });
  return (await Promise.all(plans)).join("\n");
}

test.skipIf(onPostgres())("the list finds the studies of today by their arrival", async () => {
  const plan = await plansOf((session) => listHostedClinics(session, { now: noon, newest: null }));
  expect(plan).toMatch(/SEARCH study USING INDEX study_by_receipt \(received_at>\? AND received_at<\?\)/);
  expect(plan).not.toMatch(/SCAN study/);
});

test.skipIf(onPostgres())("the meters of one clinic read no row of another", async () => {
  const plan = await plansOf((session) => readMeters(session, { now: noon, clinicId: 7 }));
  expect(plan).toMatch(/SEARCH study USING COVERING INDEX .*\(clinic_id>\? AND clinic_id<\?\)/);
  expect(plan).not.toMatch(/SCAN study/);
});

test.skipIf(onPostgres())("the storage of a clinic is measured from where the last step ended", async () => {
  const plan = await plansOf(async (session) => {
    // The first query finds the clinic that is due.
    const first: Session["first"] = async <P, R>(asked: Query<P, R>, parameters: P) => {
      await session.first(asked, parameters);
      return { id: 7 } as R;
    };
    await measureNext({ ...session, first, transaction: async () => undefined } as unknown as Store, noon);
  });
  expect(plan).toMatch(/SEARCH study USING INDEX study_of_clinic \(clinic_id=\? AND acquired_at>\?\)/);
  expect(plan).not.toMatch(/SCAN (study|study_preview)/);
});

test.skipIf(onPostgres())("the commands of operators are found by their own index", async () => {
  const plan = await plansOf((session) => listCommands(session, 1000));
  expect(plan).toMatch(/SEARCH audit USING INDEX audit_of_clinic/);
});

test.skipIf(onPostgres())(
  "the animals that a clinic alone has are found from the clinic, not among those of all",
  async () => {
    const plan = await plansOf((session) => countHoldings(session, 7));
    expect(plan).toMatch(/SEARCH patient USING INTEGER PRIMARY KEY/);
    expect(plan).not.toMatch(/SCAN (patient|clinic_patient|study|other)\b/);
  },
);
