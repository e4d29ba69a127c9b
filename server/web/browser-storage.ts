// Stores the user's choices in this browser. A browser that blocks site data throws at each access; the choices then last until
// the page is closed.

const held = new Map<string, string>();

/** Returns a stored value; null if there is none. */
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
