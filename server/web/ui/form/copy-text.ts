/**
 * Copies the text of a field. Browsers have no clipboard interface on plain http beyond this machine; there the field is selected
 * and the older command copies the selection. @returns false if neither works; the selection stays for the user's own keys
 */
export async function copyText(field: HTMLInputElement | HTMLTextAreaElement): Promise<boolean> {
  field.select();
  // TypeScript takes the interface for always present.
  const { clipboard } = navigator as { clipboard?: Clipboard };
  try {
    if (clipboard === undefined) return document.execCommand("copy");
    await clipboard.writeText(field.value);
    return true;
  } catch {
    return false;
  }
}
