/** Keeps the browser from sending a submitted form. @returns its named fields as text */
export function formValues(event: SubmitEvent): Record<string, string> {
  event.preventDefault();
  const fields = new FormData(event.currentTarget as HTMLFormElement);
  return Object.fromEntries(Array.from(fields, ([name, value]) => [name, typeof value === "string" ? value : ""]));
}

/** Returns what the user of a form changed since it was opened: the rest may be older than what another user stored. */
export function changesOf<T extends object>(chosen: T, opened: T): Partial<T> {
  const isChanged = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(opened[name as keyof T]);
  return Object.fromEntries(Object.entries(chosen).filter(isChanged)) as Partial<T>;
}
