// The configuration editor of the agent's page: `/local/v1/configuration`.

export interface LocalConfiguration {
  readonly file: string;
  /** The text of the file; null before the set-up. */
  readonly text: string | null;
  /** The mark of the text. An editor sends it back, so that a file that changed meanwhile is not overwritten. */
  readonly mark: string;
  /** The text that the last change replaced, or null. */
  readonly previous: string | null;
}

export interface LocalProblem {
  readonly line: number;
  readonly message: string;
}

export interface LocalCheck {
  readonly problems: readonly LocalProblem[];
  /** Lines of the change against the running text: `-` old, `+` new, other lines around them. Empty without a change. */
  readonly diff: readonly string[];
}

export type LocalApplied =
  | { readonly outcome: "applied" }
  | { readonly outcome: "refused"; readonly problems: readonly LocalProblem[] }
  | { readonly outcome: "rolled back"; readonly reason: string };
