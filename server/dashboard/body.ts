import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { nulProblems, problems } from "../../shared/api/problems.ts";
import { ApiError } from "../http/errors.ts";

/** Name of a user or of a clinic. */
export const Name = Type.String({ minLength: 1, maxLength: 100, pattern: "\\S" });

/** Max faults of a body that an error names. */
const FAULTS_MAX = 5;

/** Makes a function that returns the body of a request, or throws 400 with its faults if the schema does not fit. */
export function bodyReader<T extends TSchema>(schema: T): (body: unknown) => Static<T> {
  const compiled = Compile(schema);
  return (body) => {
    const faults = compiled.Check(body) ? nulProblems(body) : problems(compiled, body, FAULTS_MAX);
    if (faults.length === 0) return body as Static<T>;
    throw new ApiError("REQUEST.INVALID_BODY", `${faults.join("; ")}.`);
  };
}
