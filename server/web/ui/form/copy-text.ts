/**
 * Copies the text of a field. Plain http beyond this machine has no Clipboard API; there the field is selected and execCommand
 * copies the selection. @returns false if neither works; the text stays selected for Control+C
 */
export async function copyText(field: HTMLInputElement | HTMLTextAreaElement): Promise<boolean> {
  field.select();
  // TypeScript declares the Clipboard API as always present.
  const { clipboard } = navigator as { clipboard?: Clipboard };
  try {
    if (clipboard === undefined) return document.execCommand("copy");
    await clipboard.writeText(field.value);
    return true;
  } catch {
    return false;
  }
}
