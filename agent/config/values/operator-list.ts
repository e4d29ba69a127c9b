import fs from "node:fs";
import { Type } from "typebox";
import { LineCounter, parseDocument } from "yaml";
import { compileLater } from "../../../shared/schema/compile-later.ts";
import { problems } from "../../../shared/schema/problems.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { readTextFile } from "../../../shared/files/text-file.ts";
import type { Operator, OperatorBook } from "../../protocols/poct1/topics.ts";

// The operators of a point-of-care device: a YAML file, which is read again after a change, and the list on each device.

const List = compileLater(
  Type.Array(
    Type.Object(
      {
        id: Type.String({ minLength: 1, maxLength: 64 }),
        name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
        level: Type.Optional(Type.Integer({ minimum: 0, maximum: 99 })),
      },
      { additionalProperties: false },
    ),
    { maxItems: 10_000 },
  ),
);

/**
 * Reads an operator list.
 * @throws Error with the problems of the file, without its text if it is not a list: it may hold a secret
 */
export function readOperators(file: string): Operator[] {
  const list = parsed(readTextFile(file));
  if (!Array.isArray(list)) throw new Error('expected a list of operators, each begins with "- id:"');
  if (!List.Check(list)) throw new Error(problems(List, list).slice(0, 3).join("; "));
  const ids = list.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new Error(`duplicate operator ${twice}`);
  return list;
}

function parsed(text: string): unknown {
  const lines = new LineCounter();
  // A pretty error would quote the file.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [error] = document.errors;
  if (error === undefined) return document.toJS();
  const { line, col } = lines.linePos(error.pos[0]);
  throw new Error(`${error.message} at line ${line}, column ${col}`);
}

export class Operators implements OperatorBook {
  readonly #file: string;
  readonly #problem: (reason: string) => void;
  /** The list that each device has accepted, by the name of the device. */
  readonly #taken: Map<string, readonly Operator[]>;
  #list: readonly Operator[] | null = null;
  #readAt = "";

  /** `problem` is called once per change to an invalid file. The last valid list stays in use. */
  constructor(file: string, taken: ReadonlyMap<string, readonly Operator[]>, problem: (reason: string) => void) {
    this.#file = file;
    this.#taken = new Map(taken);
    this.#problem = problem;
  }

  current(): readonly Operator[] | null {
    const changedAt = String(fs.statSync(this.#file, { throwIfNoEntry: false })?.mtimeMs ?? "missing");
    if (changedAt === this.#readAt) return this.#list;
    this.#readAt = changedAt;
    try {
      this.#list = readOperators(this.#file);
    } catch (error) {
      this.#problem(errorMessage(error));
    }
    return this.#list;
  }

  acceptedBy(device: string): readonly Operator[] | null {
    return this.#taken.get(device) ?? null;
  }

  noteAccepted(device: string, list: readonly Operator[]): void {
    this.#taken.set(device, list);
  }
}
