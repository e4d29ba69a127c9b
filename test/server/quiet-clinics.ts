import { pino } from "pino";
import { expect } from "vitest";
import { AlertWatch } from "../../server/operations/alert-watch.ts";
import type { Query, Session } from "../../server/database/query.ts";
import type { Store } from "../../server/database/store.ts";
import { readAlertBook } from "../../server/records/alerts/alerts.ts";
import { storeHeartbeat } from "../../server/records/agents/heartbeats.ts";
import { noon } from "./harness.ts";

const MINUTE = 60_000;

/** Clinics with an agent each that runs, and a device that measured once. */
export function fillOf(clinics: number): string {
  return `
    insert into clinic (fp, name)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${clinics})
      select 'clinic_' || n, 'A clinic' from numbers;
    insert into api_key (public_id, clinic_id, name, type, permissions, digest, prefix, last_four, created_at)
      select 'key_' || id, id, 'pc', 'device', '', 'digest_' || id, '', '', 0 from clinic order by id;
    insert into heartbeat (clinic_id, api_key_id, received_at, body)
      select clinic_id, id, ${noon}, '{"version":"0.2.0","devices":[{"id":"chem-1","last_message_at":"2026-11-21T09:00:00Z"}]}'
      from api_key;
    insert into study (fp, clinic_id, modality, device_name, status, acquired_at, results, revision, content_hash, source,
      received_at, severity, rejected_reason)
      select 'cds_' || id, id, 'CHEMISTRY', 'Device', 'COMPLETED', ${noon - 3 * 60 * MINUTE}, '[]', 1, '',
        '{"device_id":"chem-1"}', ${noon}, 0, 'test' from clinic;`;
}

/** Counts each query of a store, those of transactions and of versions included. A transaction itself counts as two. */
export function counted(store: Store) {
  const count = { queries: 0 };
  const session = ({ all, first, each }: Session): Session => ({
    all: async <P, R>(asked: Query<P, R>, parameters: P) => ((count.queries += 1), all(asked, parameters)),
    first: async <P, R>(asked: Query<P, R>, parameters: P) => ((count.queries += 1), first(asked, parameters)),
    each: async <P>(asked: Query<P, unknown>, list: readonly P[]) => (
      (count.queries += list.length), each(asked, list)
    ),
  });
  const transaction: Store["transaction"] = async (work, options) => {
    count.queries += 2;
    return store.transaction(async (own) => work(session(own)), options);
  };
  const versions: Store["versions"] = async (clinicId) => ((count.queries += 1), store.versions(clinicId));
  return { count, store: { ...store, ...session(store), transaction, versions } };
}

/**
 * Lets a server watch quiet clinics.
 * @returns the queries of its first pass, of a pass without news, and of one with news of one clinic, whose alert opens in it
 */
export async function watchQuietClinics(given: Store, run: (sql: string) => Promise<void>, clinics: number) {
  const { count, store } = counted(given);
  let now = noon;
  const watch = new AlertWatch({ store, now: () => now, logger: pino({ enabled: false }) });
  const pass = async (ms: number) => {
    now += ms;
    await run(`update heartbeat set received_at = ${now}`);
    const [before, began] = [count.queries, performance.now()];
    await watch.check();
    await watch.delivered();
    return { queries: count.queries - before, ms: performance.now() - began };
  };
  let first = await pass(0);
  // A pass ends after 30 s, and the next one goes on.
  for (let more = await pass(1); more.queries > 50; more = await pass(1)) {
    first = { queries: first.queries + more.queries, ms: first.ms + more.ms };
  }
  const quiet = await pass(MINUTE / 2);
  const clinicId = Math.ceil(clinics / 2);
  const full = { version: "0.2.0", disk: { free_bytes: 1, problem: null } };
  await given.transaction((session) => storeHeartbeat(session, clinicId, clinicId, full, now));
  const news = await pass(MINUTE / 2);
  expect((await readAlertBook(given, clinicId)).open).toMatchObject([{ kind: "disk-full", openedAt: now }]);
  return { first, quiet, news };
}
