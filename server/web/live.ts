import { effect, signal } from "@preact/signals";
import { clinic } from "./session.ts";

// News from the server: a number that grows with each change of the shown clinic's data.

/** Grows when the clinic's data changed. A screen that reads it loads its data anew. */
export const changes = signal(0);

/** Whether the connection for news is lost. */
export const isLiveLost = signal(false);

/** A hidden tab hears nothing: a browser opens six connections to a host over HTTP/1.1, and a stream keeps one. */
const isShown = signal(!document.hidden);
document.addEventListener("visibilitychange", () => {
  isShown.value = !document.hidden;
});

effect(() => {
  const fp = clinic.value?.fp;
  if (fp === undefined || !isShown.value) return undefined;
  // The server also tells each new connection once, because something may have changed before it.
  const source = new EventSource(`/clinic/v1/clinics/${fp}/events`);
  source.addEventListener("ready", () => {
    isLiveLost.value = false;
  });
  source.addEventListener("changed", () => (changes.value += 1));
  source.addEventListener("error", () => (isLiveLost.value = true));
  return () => source.close();
});
