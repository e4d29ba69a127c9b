import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import type { Store } from "../database/store.ts";
import { measureNext } from "../records/hosting/storage.ts";

const CHECK_MS = 60_000;

/** Measures the storage of the clinics that are due, one after the other, until the app closes. */
export function measureStorage(
  app: FastifyInstance,
  { store, now, logger }: { readonly store: Store; readonly now: () => number; readonly logger: Logger },
): void {
  let isOpen = true;
  const measure = async (): Promise<void> => {
    try {
      while (isOpen && (await measureNext(store, now())));
    } catch (error) {
      logger.warn(
        { reason: errorMessage(error) },
        "the storage of a clinic is not measured: it waits for the next try",
      );
    }
  };
  let last = Promise.resolve();
  const timer = setInterval(() => void (last = last.then(measure)), CHECK_MS).unref();
  app.addHook("onClose", async () => {
    isOpen = false;
    clearInterval(timer);
    await last;
  });
}
