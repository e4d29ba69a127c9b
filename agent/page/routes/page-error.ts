/** A request that the page refuses, with the sentence for the user. */
export class PageError extends Error {
  readonly status: number;
  /** A code that the page's script knows. */
  readonly code: string;

  constructor(status: number, message: string, code = `LOCAL.${status}`) {
    super(message);
    this.status = status;
    this.code = code;
  }
}
