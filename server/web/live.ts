import { effect, signal } from "@preact/signals";

// Notices of changes from the program that serves the page.

/** A counter of the changes. A screen that reads it loads its data again. */
export const changes = signal(0);

/** Whether the connection for notices is lost. */
export const isLiveLost = signal(false);

/** Hidden tabs close their stream, because a browser opens at most six connections to a host over HTTP/1.1. */
const isShown = signal(!document.hidden);
document.addEventListener("visibilitychange", () => {
  isShown.value = !document.hidden;
});

/** Pause before a new attempt after a connection or a load failed. A proxy sends an error status while the server starts. */
export const RETRY_MS = 5000;

/** Receives notices from a path of this host while the page is shown; null receives none. @returns a function that stops it */
export function followNews(url: () => string | null): () => void {
  return effect(() => {
    const wanted = url();
    return wanted === null || !isShown.value ? undefined : listen(wanted);
  });
}

/** Keeps one connection for notices open. @returns a function that closes it */
function listen(url: string): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source = open();

  function open(): EventSource {
    // The server sends a notice on each new connection, because data may have changed before it.
    const opened = new EventSource(url);
    opened.addEventListener("ready", () => {
      isLiveLost.value = false;
    });
    opened.addEventListener("changed", () => (changes.value += 1));
    opened.addEventListener("error", () => {
      isLiveLost.value = true;
      // EventSource reconnects after a broken connection, but not after a response of another status or type.
      if (opened.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(() => {
        source = open();
      }, RETRY_MS);
    });
    return opened;
  }

  return () => {
    clearTimeout(timer);
    source.close();
  };
}
