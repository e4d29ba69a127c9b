/** @returns the message of a thrown value */
export function errorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** @returns the code of an error of Node, the system or a database, such as ENOENT; empty for any other thrown value */
export function errorCode(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}
