/** Keeps the browser from sending a submitted form. @returns its named fields as text */
export function formValues(event: SubmitEvent): Record<string, string> {
  event.preventDefault();
  const fields = new FormData(event.currentTarget as HTMLFormElement);
  return Object.fromEntries(Array.from(fields, ([name, value]) => [name, typeof value === "string" ? value : ""]));
}
