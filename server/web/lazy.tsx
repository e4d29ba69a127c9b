import { type ComponentType, createElement, type FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { translations } from "./text.ts";

/**
 * Makes a screen that is loaded when it is first shown. If loading fails, the screen shows the error and a button to try again,
 * and the menu keeps working. An upgrade renames the files, so the page itself is then loaded again.
 */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): FunctionComponent<Partial<Props>> {
  let Screen: ComponentType<Props> | undefined;
  // The router passes the parameters of the path, so callers omit them.
  return function LazyScreen(props: Partial<Props>) {
    const [state, setState] = useState<"loading" | "loaded" | "failed">(Screen === undefined ? "loading" : "loaded");

    async function attempt(): Promise<void> {
      setState("loading");
      try {
        Screen = await load();
        setState("loaded");
      } catch {
        if (await isUpgraded()) location.reload();
        else setState("failed");
      }
    }

    useEffect(() => {
      if (Screen === undefined) void attempt();
    }, []);
    if (Screen !== undefined) return createElement(Screen, props as Props);
    if (state !== "failed") return null;
    return (
      <>
        <h1>{t("title")}</h1>
        <p role="alert">{t("notLoaded")}</p>
        <button type="button" class="primary" onClick={() => void attempt()}>
          {t("tryAgain")}
        </button>
      </>
    );
  };
}

/** Whether the server now serves another build of the page: its first script then has another name. */
async function isUpgraded(): Promise<boolean> {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"][src]');
  const response = await fetch(location.pathname, { cache: "no-store" }).catch(() => undefined);
  if (script === null || response?.ok !== true) return false;
  return !(await response.text()).includes(new URL(script.src).pathname);
}

const t = translations({
  title: ["Not loaded", "Yüklenemedi"],
  notLoaded: [
    "This part of the page could not be loaded. The server may be away, or the network.",
    "Sayfanın bu bölümü yüklenemedi. Sunucuya ya da ağa ulaşılamıyor olabilir.",
  ],
  tryAgain: ["Try again", "Yeniden dene"],
});
