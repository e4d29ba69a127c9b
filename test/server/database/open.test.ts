import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { query, StoreUnavailable, uncachedWrite } from "../../../server/database/query.ts";
import { openExistingStore, openStore } from "../../../server/database/open.ts";
import { patientByFp } from "../../../server/records/registry/animals.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { connectTo, heldWriteLock, onPostgres, temporaryDatabase, temporaryFolder } from "../harness.ts";
import { patiently, WAIT_MS } from "../../support/runner/patience.ts";

const clinics = query((db) => db.selectFrom("clinic").select("fp").orderBy("id"));
const movements = query((db) => db.selectFrom("stock_movement").select(["reason", "quantity"]).orderBy("id"));
const insert = uncachedWrite((db, p: { fp: string }) => db.insertInto("clinic").values({ fp: p.fp, name: "" }));

describe("the store", () => {
  test("concurrent openings create one store, and a later opening reads its data", async () => {
    const database = await temporaryDatabase(join(temporaryFolder(), "new", "data"));
    const stores = await Promise.all([openStore(database), openStore(database), openStore(database)]);
    const fp = newFp("clinic");
    await stores[0].transaction((session) => session.all(insert, { fp }));
    expect(await stores[2].all(clinics, {})).toEqual([{ fp }]);
    await Promise.all(stores.map((store) => store.close()));
    const again = await openStore(database);
    expect(await again.all(clinics, {})).toEqual([{ fp }]);
    await again.close();
  });

  test("opening an existing store reports a missing database and does not create it", async () => {
    const database = await temporaryDatabase(join(temporaryFolder(), "typo"));
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(openExistingStore(database)).rejects.toThrow(
        /^there is no database in .*typo, expected |^the database of DATABASE_URL is empty, expected /,
      );
    }
    await (await openStore(database)).close();
    const store = await openExistingStore(database);
    expect(await store.all(clinics, {})).toEqual([]);
    await store.close();
  });

  test("a database of the first schema gets the columns and tables of later ones, and keeps its patients", async () => {
    const database = await temporaryDatabase();
    await (await openStore(database)).close();
    const other = await connectTo(database);
    const tables = [
      ...["oidc_identity", "oidc_spent", "former_number", "clinic_storage", "announcement"],
      ...["control_explanation", "control_target", "control_value", "control_run", "control_series"],
      ...["control_name", "control_setting", "device_event"],
      ...["support_access", "api_calls", "lease", "destination_attempt", "destination_delivery", "destination"],
      ...["clinic_event", "clinic_event_floor", "follow_up_event", "follow_up"],
      ...["own_profile", "mail_server", "report_link", "stock_movement", "interval_proposal"],
      ...["event_source", "study_charge", "imported_file", "file_import_refusal", "file_import_part", "file_import"],
      ...[
        "batch_row",
        "batch",
        "patient_source",
        "customer_source",
        "sync_answer",
        "registry_answer",
        "clinic_report",
        "clinic_soap",
        "study_remark",
        "lab_order",
      ],
    ];
    for (const table of tables) await other.run(`drop table ${table}`);
    const trigger = "soap_signed_keeps_patient";
    await other.run(onPostgres() ? `drop function ${trigger} cascade` : `drop trigger ${trigger}`);
    // SQLite drops no column that a trigger names.
    if (!onPostgres()) {
      await other.run("drop trigger soap_signed_remains");
      await other.run("create trigger soap_signed_remains before delete on soap begin select 1; end");
    }
    const byChange = ["calendar_event_by_change", "inventory_item_by_change"];
    for (const index of ["patient_merged", "patient_of_owner", ...byChange]) await other.run(`drop index ${index}`);
    const added = [
      "clinic suspended_at",
      "clinic_settings skipped_steps",
      "clinic_settings not_run_hours",
      "clinic_settings viewer_template",
      ...["clinic_settings units", "clinic_settings retention", "customer erased_at", "webhook_delivery traceparent"],
      "study_preview frames",
      "customer name",
      "customer phone",
      "customer email",
      "customer language",
      "patient precise_species",
      "patient deceased_at",
      "patient merged_into_id",
      ...["calendar_event cancelled_from", "calendar_event changed_at", "inventory_item changed_at"],
      "study order_fp",
      "study order_number",
      "study quality",
      "clinic_reference_interval_set limits",
      ...["webhook old_secret", "webhook old_secret_ends_at", "webhook failing_since"],
      ...["webhook pause_code", "webhook paused_at", "heartbeat news", "heartbeat changes"],
      ...["dashboard_user is_operator", "dashboard_session realm", "clinic studies_max", "clinic erasure"],
      ...["clinic quotas", "heartbeat devices"],
      ...["heartbeat version", "heartbeat faulty_devices", "heartbeat queue_oldest_at"],
      ...["dashboard_session oidc_issuer", "dashboard_session oidc_sid"],
    ];
    for (const index of [
      ...["study_of_order", "study_abnormal", "webhook_delivery_of_study", "webhook_delivery_of_record"],
      ...["study_seen_of_study", "calendar_event_of_user", "audit_of_clinic"],
    ])
      await other.run(`drop index ${index}`);
    for (const column of [...added, "patient_identifier type"]) {
      const [table, name] = column.split(" ");
      await other.run(`alter table ${table} drop column ${name}`);
    }
    await other.run("delete from migration where version > 1");
    const fp = newFp("patient");
    await other.run(`insert into customer (fp) values ('${newFp("customer")}')`);
    await other.run(
      "insert into patient (fp, name, species, owner_customer_id, created_at, updated_at) " +
        `select '${fp}', 'Pamuk', 'cat', id, 0, 0 from customer`,
    );
    await other.run(`insert into clinic (fp, name) values ('${newFp("clinic")}', '')`);
    await other.run(
      "insert into inventory_item (fp, clinic_id, name, category, unit, quantity_on_hand, low_stock_threshold, " +
        "unit_price_cents, currency, is_virtual) " +
        `select '${newFp("invitem")}', id, 'Gloves', 'CONSUMABLE', 'box', 12, 0, 0, 'TRY', 0 from clinic`,
    );
    for (const quantity of [0, 4, 5]) {
      await other.run(
        `insert into inventory_batch (item_id, quantity, received_at) select id, ${quantity}, ${quantity} from inventory_item`,
      );
    }
    await other.close();
    const store = await openStore(database);
    const stored = await store.first(patientByFp, { fp });
    expect(stored).toMatchObject({ name: "Pamuk", species: "cat", precise_species: null, deceased_at: null });
    expect((await store.all(movements, {})).map(({ reason, quantity }) => [reason, quantity])).toEqual([
      ["opening", 4],
      ["opening", 5],
      ["opening", 3],
    ]);
    await store.close();
  });

  test("a database of a newer program is refused with both versions", async () => {
    const database = await temporaryDatabase();
    await (await openStore(database)).close();
    const other = await connectTo(database);
    await other.run("insert into migration (version, applied_at, program) values (99, 0, '9.8.7')");
    await other.close();
    await expect(openStore(database)).rejects.toThrow(
      /(vetwire\.db|^the database of DATABASE_URL) has schema 99 of version 9\.8\.7, this version \S+ knows schemas up to \d+: install version 9\.8\.7 or newer, or restore a backup from before its update$/,
    );
  });

  test("an open transaction is invisible to readers, and a failed one is rolled back", async () => {
    const store = await openStore(await temporaryDatabase());
    const [kept, undone] = [newFp("clinic"), newFp("clinic")];
    let following: Promise<unknown> | undefined;
    const failing = store.transaction(async (session) => {
      await session.all(insert, { fp: undone });
      expect(await session.all(clinics, {})).toEqual([{ fp: undone }]);
      expect(await store.all(clinics, {})).toEqual([]);
      // Starts while the first transaction is open. On SQLite it waits.
      following = store.transaction((other) => other.all(insert, { fp: kept }));
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await following;
    expect(await store.all(clinics, {})).toEqual([{ fp: kept }]);
    await store.close();
  });

  test("a write waits a limited time for another process and does not block reads", async () => {
    const database = await temporaryDatabase();
    const [store, impatient] = [await openStore(database, WAIT_MS), await openStore(database, 300)];
    const other = await connectTo(database);
    const write = (on = store) => on.transaction((session) => session.all(insert, { fp: newFp("clinic") }));

    await other.run(heldWriteLock());
    const waiting = write();
    const clock = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 86_400_000); // a jump ends no waiting
    onTestFinished(() => clock.mockRestore());
    expect(await store.all(clinics, {})).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 50)); // it tries again
    await other.run("rollback");
    await waiting;
    clock.mockRestore();
    expect(await store.all(clinics, {})).toHaveLength(1);

    await other.run(heldWriteLock());
    // Queued writes share one waiting time.
    const begun = performance.now();
    const refused = await Promise.allSettled(Array.from({ length: 30 }, () => write(impatient)));
    expect(performance.now() - begun).toBeLessThan(patiently(2_500));
    for (const result of refused) {
      expect(result.status === "rejected" && (result.reason as unknown)).toBeInstanceOf(StoreUnavailable);
    }
    await other.close();
    for (const each of [store, impatient]) await each.close();
  });
});
