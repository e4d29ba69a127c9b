import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Store } from "../database/store.ts";
import { addCalls } from "../records/hosting/api-calls.ts";
import { monthOf } from "../records/hosting/meters.ts";

// Counts the requests with keys of each clinic in memory, and adds them to the database at intervals. A crash loses the last interval.

const FLUSH_MS = 10_000;

/** Counts the requests of an app until it closes. */
export function countCalls(
  app: FastifyInstance,
  { store, now, logger }: { readonly store: Store; readonly now: () => number; readonly logger: Logger },
): void {
  const counted = new Map<number, number>();
  const flush = async (): Promise<void> => {
    const batch = [...counted];
    counted.clear();
    if (batch.length === 0) return;
    const month = monthOf(now());
    try {
      await store.transaction(async (session) => {
        for (const [clinicId, calls] of batch) await addCalls(session, { clinicId, month, calls });
      });
    } catch (error) {
      logger.warn(
        { reason: errorMessage(error) },
        "the counts of API calls are not stored: they wait for the next try",
      );
      for (const [clinicId, calls] of batch) counted.set(clinicId, (counted.get(clinicId) ?? 0) + calls);
    }
  };
  app.addHook("onRequest", (request, reply, done) => {
    reply.raw.on("close", () => {
      const { key } = request.context;
      if (key !== null) counted.set(key.clinic_id, (counted.get(key.clinic_id) ?? 0) + 1);
    });
    done();
  });
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();
  app.addHook("onClose", async () => {
    clearInterval(timer);
    await flush();
  });
}
