import { computed, effect, signal } from "@preact/signals";
import { remember, remembered } from "./browser-storage.ts";

export type Theme = "auto" | "light" | "dark";

/** The colours that the user chose in this browser; "auto" follows the system. */
export const theme = signal<Theme>((remembered("theme") as Theme | null) ?? "auto");

export function chooseTheme(chosen: Theme): void {
  remember("theme", chosen);
  theme.value = chosen;
}

const darkSystem = matchMedia("(prefers-color-scheme: dark)");
const isSystemDark = signal(darkSystem.matches);
darkSystem.addEventListener("change", () => {
  isSystemDark.value = darkSystem.matches;
});

/** The colours in use. */
export const shownTheme = computed<"light" | "dark">(() => {
  if (theme.value !== "auto") return theme.value;
  return isSystemDark.value ? "dark" : "light";
});

effect(() => {
  document.documentElement.dataset["theme"] = shownTheme.value;
});

// Paper is light, also for what a script draws with the colours in use.
addEventListener("beforeprint", () => {
  document.documentElement.dataset["theme"] = "light";
});
addEventListener("afterprint", () => {
  document.documentElement.dataset["theme"] = shownTheme.value;
});
