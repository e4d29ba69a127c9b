import type { FastifyInstance } from "fastify";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { measureNext } from "../records/hosting/storage.ts";
import type { OperatorContext } from "./context.ts";

const CHECK_MS = 60_000;

/** Measures the storage of the clinics that are due, one after the other, until the app closes. Of several servers one does it. */
export function measureStorage(
  app: FastifyInstance,
  { store, now, logger, isLeader }: Pick<OperatorContext, "store" | "now" | "logger" | "isLeader">,
): void {
  let isOpen = true;
  const measure = async (): Promise<void> => {
    try {
      while (isOpen && isLeader() && (await measureNext(store, now())));
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
