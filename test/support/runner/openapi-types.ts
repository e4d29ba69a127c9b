// Prints the types of the two API documents, for shared/client. The type `paths` of the read API has the form that openapi-fetch takes.

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

interface WriteOperation extends Operation {
  readonly requestBody: { readonly content: { readonly "application/json": { readonly schema: Schema } } };
}

interface Schemas {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface TypedDocument extends Schemas {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
}

export interface SyncDocument extends Schemas {
  readonly paths: Readonly<Record<string, { readonly post: WriteOperation }>>;
}

/** @returns a TypeScript module of the sync API, not formatted */
export function syncTypesOf({ paths, ...document }: SyncDocument): string {
  const operations = Object.entries(paths).map(([path, { post }]) => {
    const body = typeOf(post.requestBody.content["application/json"].schema);
    return `${comment({ description: `${post.summary}.` })}${literal(path)}: { body: ${body}; answer: ${answerOf(post)} };`;
  });
  return [
    "// Types of the sync API, made from its OpenAPI document: npm run contract.",
    ...records(document),
    `/** What each operation takes and returns. */\nexport interface operations {\n${operations.join("\n")} }`,
  ].join("\n\n");
}

/** @returns the records of a document, the codes of its errors and their envelope */
function records({ components: { schemas } }: Schemas): string[] {
  const names = Object.keys(schemas);
  // The schema of an error has its code as its name.
  const codes = names.filter((name) => name.includes("."));
  const named = names.filter((name) => !codes.includes(name) && name !== "Error");
  return [
    ...named.map((name) => `${comment(schemas[name])}export ${declaration(name, schemas[name] ?? {})}`),
    `/** Codes of the errors. A later server may have more. */\nexport type ErrorCode = ${codes.map(literal).join("|")};`,
    "/** The envelope of every error. */\nexport interface ErrorEnvelope { success: false; error: { code: ErrorCode; message: string; " +
      'severity: "error" | "warning"; details?: Record<string, unknown> } }',
  ];
}

/** @returns a TypeScript module of the read API without its files, not formatted */
export function typesOf({ paths, ...document }: TypedDocument): string {
  const operations = Object.entries(paths).filter(([, { get }]) => !isFile(get));
  return [
    "// Types of the read API, made from its OpenAPI document: npm run contract.",
    ...records(document),
    `/** A GET with its query or the parameter of its path, in the form that openapi-fetch takes. */
    interface Get<Body, Place> {
      parameters: Record<string, never>;
      get: {
        parameters: Place & { header?: { "If-None-Match"?: string } };
        responses: { 200: Answer<Body>; default: Answer<ErrorEnvelope> };
      };
    }`,
    'interface Answer<Body> { headers: Record<string, unknown>; content: { "application/json": Body } }',
    `/** The operations by their paths. */\nexport interface paths { ${operations
      .map(([path, { get }]) => `${comment({ description: `${get.summary}.` })}${literal(path)}: ${operation(get)};`)
      .join("\n")} }`,
  ].join("\n\n");
}

function declaration(name: string, schema: Schema): string {
  return schema.properties === undefined ? `type ${name} = ${typeOf(schema)};` : `interface ${name} ${typeOf(schema)}`;
}

function isFile({ responses }: Operation): boolean {
  return !("application/json" in (responses["200"]?.content ?? {}));
}

function answerOf({ responses }: Operation): string {
  return typeOf(responses["200"]?.content?.["application/json"].schema ?? {});
}

function operation(described: Operation): string {
  const { parameters } = described;
  const named = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const fields = (place: string, mark: string) =>
    named(place).map(
      ({ name = "", description, schema = {} }) => `${comment({ description })}${name}${mark}: ${typeOf(schema)};`,
    );
  const query = fields("query", "?");
  const path = fields("path", "");
  const place =
    path.length === 0
      ? `{ query?: {\n${query.join("\n")} }; path?: never }`
      : `{ query?: never; path: {\n${path.join("\n")} } }`;
  return `Get<${answerOf(described)}, ${place}>`;
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
