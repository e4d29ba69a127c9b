/** A fault and its remedy; null where only the reader of the fault knows that. */
export interface Advised {
  readonly fault: string;
  readonly remedy: string | null;
}

/** Formats a fault and its remedy as one sentence. */
export function advisedText({ fault, remedy }: Advised): string {
  return remedy === null ? fault : `${fault}: ${remedy}`;
}
