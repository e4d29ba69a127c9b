// What this browser remembers of a person's choices. A browser that blocks site data throws at each access: the choices then last as
// long as the page.

const held = new Map<string, string>();

/** Returns a remembered value; null if there is none. */
export function remembered(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return held.get(key) ?? null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    held.set(key, value);
  }
}
