// Prints the types of the read API's document, for shared/client/api.ts. The type `paths` has the form that openapi-fetch takes.

interface Schema {
  readonly $ref?: string;
  readonly description?: string | undefined;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Parameter {
  readonly name?: string;
  readonly in?: string;
  readonly description?: string | undefined;
  readonly schema?: Schema;
}

interface Operation {
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly responses: Readonly<Record<string, { content?: { "application/json": { schema: Schema } } }>>;
}

export interface TypedDocument {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** @returns a TypeScript module, not formatted */
export function typesOf({ paths, components: { schemas } }: TypedDocument): string {
  const names = Object.keys(schemas);
  // The schema of an error has its code as its name.
  const codes = names.filter((name) => name.includes("."));
  const records = names.filter((name) => !codes.includes(name) && name !== "Error");
  return [
    "// Types of the read API, made from its OpenAPI document: npm run contract.",
    ...records.map((name) => `${comment(schemas[name])}export ${declaration(name, schemas[name] ?? {})}`),
    `/** Codes of the errors. A later server may have more. */\nexport type ErrorCode = ${codes.map(literal).join("|")};`,
    "/** The envelope of every error. */\nexport interface ErrorEnvelope { success: false; error: { code: ErrorCode; message: string; " +
      'severity: "error" | "warning"; details?: Record<string, unknown> } }',
    `/** A GET with its query or the parameter of its path, in the form that openapi-fetch takes. */
    interface Get<Body, Place> {
      parameters: Record<string, never>;
      get: {
        parameters: Place & { header?: { "If-None-Match"?: string } };
        responses: { 200: Answer<Body>; default: Answer<ErrorEnvelope> };
      };
    }`,
    'interface Answer<Body> { headers: Record<string, unknown>; content: { "application/json": Body } }',
    `/** The operations by their paths. */\nexport interface paths { ${Object.entries(paths)
      .map(([path, { get }]) => `${comment({ description: `${get.summary}.` })}${literal(path)}: ${operation(get)};`)
      .join("\n")} }`,
  ].join("\n\n");
}

function declaration(name: string, schema: Schema): string {
  return schema.properties === undefined ? `type ${name} = ${typeOf(schema)};` : `interface ${name} ${typeOf(schema)}`;
}

function operation({ parameters, responses }: Operation): string {
  const named = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const fields = (place: string, mark: string) =>
    named(place).map(
      ({ name = "", description, schema = {} }) => `${comment({ description })}${name}${mark}: ${typeOf(schema)};`,
    );
  const query = fields("query", "?");
  const path = fields("path", "");
  const body = typeOf(responses["200"]?.content?.["application/json"].schema ?? {});
  const place =
    path.length === 0
      ? `{ query?: {\n${query.join("\n")} }; path?: never }`
      : `{ query?: never; path: {\n${path.join("\n")} } }`;
  return `Get<${body}, ${place}>`;
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split("/").at(-1) ?? "unknown";
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" | ");
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(" | ");
  switch (schema.type) {
    case "array":
      return `Array<${typeOf(schema.items ?? {})}>`.replace(/^Array<(\w+)>$/, "$1[]");
    case "object":
      return `{\n${Object.entries(schema.properties ?? {})
        .map(([name, field]) => {
          const mark = schema.required?.includes(name) === true ? "" : "?";
          return `${comment(field)}${name}${mark}: ${typeOf(field)};`;
        })
        .join("\n")} }`;
    case "integer":
      return "number";
    case "string":
    case "number":
    case "boolean":
    case "null":
      return schema.type;
    default:
      throw new Error(`expected a schema with a known type, got ${JSON.stringify(schema)}`);
  }
}

function literal(value: unknown): string {
  return JSON.stringify(value);
}

function comment(schema: { readonly description?: string | undefined } | undefined): string {
  return schema?.description === undefined ? "" : `/** ${schema.description.replaceAll("*/", "* /")} */\n`;
}
