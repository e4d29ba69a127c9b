import { useEffect } from "preact/hooks";

/** Keeps the title of the browser's tab equal to the first heading of the page, in the page's language. */
export function usePageTitle(): void {
  useEffect(() => {
    const setTitle = () => {
      const heading = document.querySelector("main h1")?.textContent.trim();
      document.title = heading ? `${heading} · Vetwire` : "Vetwire";
    };
    setTitle();
    // Headings with names of patients arrive after the screen.
    const observer = new MutationObserver(setTitle);
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    return () => observer.disconnect();
  }, []);
}
