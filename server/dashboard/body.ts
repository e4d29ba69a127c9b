import { type Static, type TObject, type TProperties, Type } from "typebox";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { ClosedObject } from "../../shared/schema/schema.ts";
import { textProblems, problems } from "../../shared/schema/problems.ts";
import { ApiError } from "../http/errors.ts";
import { textForm } from "../../shared/schema/text-form.ts";

/** Name of a user or of a clinic. */
export const Name = Type.String({ minLength: 1, maxLength: 100, pattern: textForm("\\S", "text that is not blank") });

/** The id of a form, chosen by the page so that a form that is sent again is stored once. */
export const EntryId = Type.String({ pattern: textForm("^[A-Za-z0-9]{20,40}$", "20 to 40 letters and digits") });

/** Max faults of a body that an error names. */
const FAULTS_MAX = 5;

/**
 * Makes a function that returns the body of a request, an object with these properties alone. It throws 400 with the faults of
 * another body.
 */
export function bodyReader<T extends TProperties>(properties: T): (body: unknown) => Static<TObject<T>> {
  const compiled = compileLater(ClosedObject(properties));
  return (body) => {
    const faults = compiled.Check(body) ? textProblems(body) : problems(compiled, body, FAULTS_MAX);
    if (faults.length === 0) return body as Static<TObject<T>>;
    throw new ApiError("REQUEST.INVALID_BODY", `${faults.join("; ")}.`);
  };
}
