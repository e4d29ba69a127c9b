import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import { query, type Session, uncachedWrite } from "../database/query.ts";
import type { Store } from "../database/store.ts";

// Work that one of several servers on a database does. The row of the lease holds no time, because clocks differ: its holder counts
// renewals, and another server takes it once their number has not changed for TAKE_MS of its own running time. The holder stops
// HOLD_MS after the last renewal began, which is earlier. Only a machine that slept may work on until its next renewal fails, so the
// work must be harmless if two servers do it.

const RENEW_MS = 5_000;
/** Three renewals are missed. */
const HOLD_MS = 15_000;
const TAKE_MS = 20_000;

interface LeaseOptions {
  readonly logger: Logger;
  /** Milliseconds of running time, which nobody can set. */
  readonly running?: () => number;
}

/** The lease of the periodic work. On an own database, which the lock of its folder keeps from others, it is always held. */
export class Lease {
  readonly #store: Store;
  readonly #logger: Logger;
  readonly #running: () => number;
  readonly #holder = randomUUID();
  #timer: NodeJS.Timeout | undefined;
  #look: Promise<void> | undefined;
  /** Running time at which the last renewal began. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  #wasHeld = false;
  /** The row of another holder, and since when it is the same. */
  #seen: (LeaseRow & { readonly since: number }) | undefined;

  constructor(store: Store, { logger, running = () => performance.now() }: LeaseOptions) {
    this.#store = store;
    this.#logger = logger;
    this.#running = running;
  }

  /** Whether this server does the work now. */
  get isHeld(): boolean {
    return !this.#store.shared || this.#running() - this.#renewedAt < HOLD_MS;
  }

  start(): void {
    if (!this.#store.shared) return;
    this.#timer = setInterval(() => void this.look(), RENEW_MS).unref();
    void this.look();
  }

  /** Renews the lease, or takes it if nobody holds it. Never rejects. */
  async look(): Promise<void> {
    this.#look ??= this.#renewOrTake()
      .catch((error: unknown) => this.#logger.warn({ err: error }, "the lease of the periodic work cannot be renewed"))
      .finally(() => {
        this.#look = undefined;
        this.#logChange();
      });
    return this.#look;
  }

  /** Gives the lease back. Call it once the work has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#look;
    if (!this.#store.shared || this.#renewedAt === Number.NEGATIVE_INFINITY) return;
    this.#renewedAt = Number.NEGATIVE_INFINITY;
    await this.#store
      .transaction((session) => session.all(giveBack, { name: NAME, holder: this.#holder }), { repeatable: true })
      .catch((error: unknown) => this.#logger.warn({ err: error }, "the lease of the periodic work ends by itself"));
  }

  async #renewOrTake(): Promise<void> {
    const began = this.#running();
    const row = await this.#store.transaction((session) => this.#renewed(session), { repeatable: true });
    if (row.holder === this.#holder) {
      this.#renewedAt = began;
      this.#seen = undefined;
      return;
    }
    this.#renewedAt = Number.NEGATIVE_INFINITY;
    const seen = this.#seen;
    const isSame = seen?.holder === row.holder && seen.renewals === row.renewals;
    // Its time is that of after the transaction, since the renewal that it saw began before.
    if (!isSame) this.#seen = { ...row, since: this.#running() };
    if (row.holder === NOBODY || (isSame && began - seen.since >= TAKE_MS)) await this.#take(row);
  }

  /** @returns the row after a renewal, or that of another holder */
  async #renewed(session: Session): Promise<LeaseRow> {
    const own = await session.first(renew, { name: NAME, holder: this.#holder });
    const row = own ?? (await session.first(ofName, { name: NAME }));
    return row ?? (await session.first(insert, { name: NAME, holder: NOBODY })) ?? { holder: NOBODY, renewals: 0 };
  }

  async #take(row: LeaseRow): Promise<void> {
    const began = this.#running();
    const taken = await this.#store.transaction((session) =>
      session.first(take, { ...row, name: NAME, by: this.#holder }),
    );
    if (taken !== undefined) this.#renewedAt = began;
  }

  #logChange(): void {
    if (this.isHeld === this.#wasHeld) return;
    this.#wasHeld = this.isHeld;
    this.#logger.info(this.#wasHeld ? "this server does the periodic work" : "another server does the periodic work");
  }
}

const NAME = "periodic work";
const NOBODY = "";

interface LeaseRow {
  readonly holder: string;
  readonly renewals: number;
}

const ofName = query((db, p: { name: string }) =>
  db.selectFrom("lease").select(["holder", "renewals"]).where("name", "=", p.name),
);

const insert = uncachedWrite((db, p: { name: string; holder: string }) =>
  db
    .insertInto("lease")
    .values({ name: p.name, holder: p.holder, renewals: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .returning(["holder", "renewals"]),
);

const renew = uncachedWrite((db, p: { name: string; holder: string }) =>
  db
    .updateTable("lease")
    .set((set) => ({ renewals: set("renewals", "+", 1) }))
    .where("name", "=", p.name)
    .where("holder", "=", p.holder)
    .returning(["holder", "renewals"]),
);

const take = uncachedWrite((db, p: LeaseRow & { name: string; by: string }) =>
  db
    .updateTable("lease")
    .set((set) => ({ holder: p.by, renewals: set("renewals", "+", 1) }))
    .where("name", "=", p.name)
    .where("holder", "=", p.holder)
    .where("renewals", "=", p.renewals)
    .returning(["holder", "renewals"]),
);

const giveBack = uncachedWrite((db, p: { name: string; holder: string }) =>
  db.updateTable("lease").set({ holder: NOBODY }).where("name", "=", p.name).where("holder", "=", p.holder),
);
