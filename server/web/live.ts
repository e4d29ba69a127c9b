import { effect, signal } from "@preact/signals";

// News from the program that serves the page: a number that grows with each change of its data.

/** Grows when the data changed. A screen that reads it loads its data again. */
export const changes = signal(0);

/** Whether the connection for news is lost. */
export const isLiveLost = signal(false);

/** A hidden tab does not listen: a browser opens six connections to a host over HTTP/1.1, and a stream keeps one. */
const isShown = signal(!document.hidden);
document.addEventListener("visibilitychange", () => {
  isShown.value = !document.hidden;
});

/** Pause before a new connection after a response other than 200, as a proxy gives while the server starts. */
const RETRY_MS = 5000;

/** Listens for news at a path of this host while the page is shown. Null does not listen. @returns a function that ends it */
export function followNews(url: () => string | null): () => void {
  return effect(() => {
    const wanted = url();
    return wanted === null || !isShown.value ? undefined : listen(wanted);
  });
}

/** Keeps one connection for news open. @returns a function that ends it */
function listen(url: string): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source = open();

  function open(): EventSource {
    // The server also notifies each new connection once, because something may have changed before it.
    const opened = new EventSource(url);
    opened.addEventListener("ready", () => {
      isLiveLost.value = false;
    });
    opened.addEventListener("changed", () => (changes.value += 1));
    opened.addEventListener("error", () => {
      isLiveLost.value = true;
      // The browser itself connects again after a broken connection, but gives up after a wrong response.
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
