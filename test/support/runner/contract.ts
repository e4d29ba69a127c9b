import { Ajv2020 } from "ajv/dist/2020.js";

// Checks responses against the OpenAPI document that the server serves.

export interface Answer {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Iterable<[string, HeaderValue]>;
  readonly text: string;
}

type HeaderValue = string | string[] | number | undefined;

/** The checked part of an OpenAPI document. */
export interface ApiDocument {
  readonly info: { readonly description: string };
  readonly paths: Record<string, Record<"get" | "post", { responses: Record<string, Response | Reference> }>>;
  readonly components: {
    readonly responses: Record<string, Response>;
    readonly headers: Record<string, { readonly required?: boolean }>;
    readonly examples: Record<string, { readonly value: unknown }>;
    readonly schemas: Record<string, { readonly properties?: Record<string, Field> }>;
    readonly securitySchemes: Record<string, { readonly description: string }>;
  };
}
interface Field {
  readonly pattern?: string;
  readonly format?: string;
  readonly anyOf?: readonly Field[];
}
interface Response {
  readonly headers: Record<string, Reference>;
  readonly content?: object;
}
interface Reference {
  readonly $ref: string;
}

/** A media type, a header or a parameter. */
interface Described {
  readonly in?: string;
  readonly schema?: object;
  readonly example?: unknown;
  readonly examples?: Record<string, Reference>;
}

export class Contract {
  readonly #document: ApiDocument;
  readonly #ajv: Ajv2020;
  /** The method of all operations, and the first part of their paths. */
  readonly #method: "get" | "post";
  readonly #part: string;
  /** Documented statuses without a response yet, such as `/api/v1/patients 200`. */
  readonly #missing: Set<string>;
  /** Documented headers without a response yet, such as `/api/v1/patients 200 ETag`. */
  readonly #missingHeaders: Set<string>;

  constructor(document: ApiDocument) {
    this.#document = document;
    // Patterns check dates and times, so formats need no check.
    this.#ajv = new Ajv2020({ strict: true, allErrors: true, validateFormats: false })
      .addVocabulary(Object.keys(document))
      .addSchema(closed(document), "api");
    const [path, operations] = Object.entries(document.paths)[0] ?? ["", {}];
    this.#method = "post" in operations ? "post" : "get";
    this.#part = path.split("/")[1] ?? "";
    // `default` documents statuses that no endpoint returns.
    const statuses = Object.entries(document.paths).flatMap(([url, { [this.#method]: operation }]) =>
      Object.entries(operation.responses).flatMap(([status, response]) =>
        status === "default" ? [] : [{ name: `${url} ${status}`, headers: this.#resolved(response).headers }],
      ),
    );
    this.#missing = new Set(statuses.map(({ name }) => name));
    this.#missingHeaders = new Set(
      statuses.flatMap(({ name, headers }) => Object.keys(headers).map((header) => `${name} ${header}`)),
    );
  }

  /** Documented statuses that no response to a GET has had. */
  get missing(): string[] {
    return [...this.#missing];
  }

  /** Documented headers that no response to a GET has had. */
  get missingHeaders(): string[] {
    return [...this.#missingHeaders];
  }

  /** Examples that do not match their schemas, and schemas without an example. A query parameter needs no example. */
  get faultsOfExamples(): string[] {
    return [...this.#faultsOfExamples("#", this.#document)];
  }

  *#faultsOfExamples(pointer: string, place: object): Generator<string> {
    for (const [name, inner] of Object.entries(place) as [string, unknown][]) {
      if (typeof inner === "object" && inner !== null)
        yield* this.#faultsOfExamples(`${pointer}/${escaped(name)}`, inner);
    }
    const { schema, example, examples = {}, ...described } = place as Described;
    if (schema === undefined) return;
    const shown = Object.values(examples).map(
      ({ $ref }) => this.#document.components.examples[nameIn({ $ref })]?.value,
    );
    const all = example === undefined ? shown : [example, ...shown];
    if (all.length === 0 && described.in !== "query") yield `${pointer} has no example`;
    for (const one of all) yield* this.#faultsOf(`${pointer}/schema`, one, pointer);
  }

  /** @returns the deviations of a response from the document; none for a URL outside its part, such as /api/v1 */
  problems({ method, url, status, headers, text }: Answer): string[] {
    const requested = url.split("?", 1)[0] ?? "";
    if (!new RegExp(`^/${this.#part}/v1(/|$)`).test(requested)) return [];
    const faults = [...this.#faults(method, requested, status, new Map(headers), text)];
    return faults.map((fault) => `${method} ${requested.slice(0, 100)} is ${status}: ${fault}`);
  }

  *#faults(method: string, requested: string, status: number, headers: Map<string, HeaderValue>, text: string) {
    const known = this.#method === "get" ? ["GET", "HEAD"] : ["POST"];
    const path = known.includes(method) ? this.#pathOf(requested) : undefined;
    if (path === undefined) {
      if (![400, 404, 405].includes(status)) yield `no path is documented, expected 400, 404 or 405, got ${status}`;
      if (method !== "HEAD") yield* this.#faultsOfBody("#/components/schemas/Error", headers, text);
      return;
    }

    const documented = this.#document.paths[path]?.[this.#method].responses[status];
    if (documented === undefined) {
      yield "the status is not documented";
      return;
    }
    const pointer =
      "$ref" in documented ? documented.$ref : `#/paths/${escaped(path)}/${this.#method}/responses/${status}`;
    const response = this.#resolved(documented);
    if (method !== "HEAD") {
      const met = Object.keys(response.headers).filter((name) => headers.has(name.toLowerCase()));
      this.#missing.delete(`${path} ${status}`);
      for (const name of met) this.#missingHeaders.delete(`${path} ${status} ${name}`);
    }
    yield* this.#faultsOfHeaders(response.headers, headers);
    if (response.content === undefined || method === "HEAD") {
      if (text !== "") yield "expected no body";
    } else {
      const [type = ""] = Object.keys(response.content);
      if (type === "application/json") {
        yield* this.#faultsOfBody(`${pointer}/content/application~1json/schema`, headers, text);
      } else if (headers.get("content-type") !== type) {
        yield `expected content type ${type}, got ${String(headers.get("content-type"))}`;
      }
    }
  }

  #resolved(response: Response | Reference): Response {
    if (!("$ref" in response)) return response;
    const found = this.#document.components.responses[nameIn(response)];
    if (found === undefined) throw new Error(`unknown reference ${response.$ref}`);
    return found;
  }

  #pathOf(requested: string): string | undefined {
    const paths = Object.keys(this.#document.paths);
    return paths.find((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(requested));
  }

  *#faultsOfHeaders(documented: Record<string, Reference>, headers: Map<string, HeaderValue>) {
    for (const [name, { $ref }] of Object.entries(documented)) {
      const value = headers.get(name.toLowerCase());
      if (value !== undefined) yield* this.#faultsOf(`${$ref}/schema`, String(value), name);
      else if (this.#document.components.headers[name]?.required === true) yield `${name} is missing`;
    }
    const known = Object.keys(documented).map((name) => name.toLowerCase());
    for (const name of headers.keys()) {
      if (CONTRACT_HEADERS.test(name) && !known.includes(name)) yield `${name} is not documented`;
    }
  }

  *#faultsOfBody(pointer: string, headers: Map<string, HeaderValue>, text: string) {
    if (headers.get("content-type") !== "application/json; charset=utf-8") {
      yield `expected content type application/json; charset=utf-8, got ${String(headers.get("content-type"))}`;
    }
    yield* this.#faultsOf(pointer, JSON.parse(text), "the body");
  }

  *#faultsOf(pointer: string, value: unknown, name: string) {
    const validate = this.#ajv.getSchema(`api${pointer}`);
    if (validate === undefined) yield `unknown pointer ${pointer}`;
    else if (validate(value) !== true) yield this.#ajv.errorsText(validate.errors, { dataVar: name });
  }
}

/** Headers of the API, without HTTP's own. */
const CONTRACT_HEADERS = /^(x-(?!content-type-options$)|ratelimit|retry-after$|www-authenticate$|etag$)/;

/** Forbids undocumented properties. Clients must accept further fields, but the server must document its own. */
function closed(document: ApiDocument): ApiDocument {
  return JSON.parse(JSON.stringify(document), (_name, value: unknown) => {
    const isObject = typeof value === "object" && value !== null && "properties" in value;
    return isObject ? { ...value, additionalProperties: false } : value;
  }) as ApiDocument;
}

/** Escapes a name for a JSON pointer (RFC 6901 §3). */
function escaped(path: string): string {
  return path.replaceAll("~", "~0").replaceAll("/", "~1");
}

function nameIn({ $ref }: Reference): string {
  return $ref.slice($ref.lastIndexOf("/") + 1);
}
