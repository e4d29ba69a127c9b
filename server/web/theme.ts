import { effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";

/** The colours that the user chose in this browser; "auto" follows the system. */
export const theme = signal<Theme>((localStorage.getItem("theme") as Theme | null) ?? "auto");

export function chooseTheme(chosen: Theme): void {
  localStorage.setItem("theme", chosen);
  theme.value = chosen;
}

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});
