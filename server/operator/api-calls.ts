import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Store } from "../database/store.ts";
import { addCalls } from "../records/hosting/api-calls.ts";
import { monthOf } from "../records/hosting/meters.ts";

// Counts the requests with keys of each clinic in memory, and adds them to the database at intervals. A crash loses the last interval.

const FLUSH_MS = 10_000;

/** Clinics whose counts one transaction stores: a host has ten thousand, and other writes wait for a transaction. */
const AT_ONCE = 500;

/** Counts the requests of an app until it closes. */
export function countCalls(
  app: FastifyInstance,
  { store, now, logger }: { readonly store: Store; readonly now: () => number; readonly logger: Logger },
): void {
  const counted = new Map<number, number>();
  const add = (clinicId: number, calls: number) => counted.set(clinicId, (counted.get(clinicId) ?? 0) + calls);
  const flush = async (): Promise<void> => {
    const month = monthOf(now());
    // Servers that store at the same time take the rows in one order, or each would wait for the other.
    const waiting = [...counted].toSorted(([one], [other]) => one - other);
    counted.clear();
    try {
      while (waiting.length > 0) {
        const some = waiting.slice(0, AT_ONCE).map(([clinicId, calls]) => ({ clinicId, month, calls }));
        await store.transaction((session) => addCalls(session, some));
        waiting.splice(0, AT_ONCE);
      }
    } catch (error) {
      logger.warn(
        { reason: errorMessage(error) },
        "the counts of API calls are not stored: they wait for the next try",
      );
      for (const [clinicId, calls] of waiting) add(clinicId, calls);
    }
  };
  app.addHook("onRequest", (request, reply, done) => {
    reply.raw.on("close", () => {
      const { key } = request.context;
      if (key !== null) add(key.clinic_id, 1);
    });
    done();
  });
  let last = Promise.resolve();
  const flushNext = () => (last = last.then(flush));
  const timer = setInterval(() => void flushNext(), FLUSH_MS).unref();
  app.addHook("onClose", async () => {
    clearInterval(timer);
    await flushNext();
  });
}
