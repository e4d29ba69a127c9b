import { Ajv2020 } from "ajv/dist/2020.js";

// Holds answers against the API document that the server serves (api.md 148).

export interface Answer {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Iterable<[string, HeaderValue]>;
  readonly text: string;
}

type HeaderValue = string | string[] | number | undefined;

/** What we look at of an OpenAPI document. */
export interface ApiDocument {
  readonly paths: Record<string, { get: { responses: Record<string, Response | Reference> } }>;
  readonly components: {
    readonly responses: Record<string, Response>;
    readonly headers: Record<string, { readonly required?: boolean }>;
  };
}
interface Response {
  readonly headers: Record<string, Reference>;
  readonly content?: object;
}
interface Reference {
  readonly $ref: string;
}

export class Contract {
  readonly #document: ApiDocument;
  readonly #ajv: Ajv2020;
  /** Documented and not met yet, such as `/api/v1/patients 200`. */
  readonly #missing: Set<string>;

  constructor(document: ApiDocument) {
    this.#document = document;
    // Formats are on parameters only, which are not looked at here.
    this.#ajv = new Ajv2020({ strict: true, allErrors: true, validateFormats: false })
      .addVocabulary(Object.keys(document))
      .addSchema(document, "api");
    this.#missing = new Set(
      Object.entries(document.paths).flatMap(([path, { get }]) =>
        Object.keys(get.responses).map((status) => `${path} ${status}`),
      ),
    );
  }

  /** The documented statuses that no answer to a GET had until now. */
  get missing(): string[] {
    return [...this.#missing];
  }

  /** What is wrong with an answer from /api/v1; others are not looked at. */
  problems({ method, url, status, headers, text }: Answer): string[] {
    const requested = url.split("?", 1)[0] ?? "";
    if (!/^\/api\/v1(\/|$)/.test(requested)) return [];
    const faults = [...this.#faults(method, requested, status, new Map(headers), text)];
    return faults.map((fault) => `${method} ${requested.slice(0, 100)} is ${status}: ${fault}`);
  }

  *#faults(method: string, requested: string, status: number, headers: Map<string, HeaderValue>, text: string) {
    const path = ["GET", "HEAD"].includes(method) ? this.#pathOf(requested) : undefined;
    if (path === undefined) {
      if (![400, 404, 405].includes(status)) yield "nothing is documented there, expected 404 or 405";
      if (method !== "HEAD") yield* this.#faultsOfBody("#/components/schemas/Error", headers, text);
      return;
    }

    const documented = this.#document.paths[path]?.get.responses[status];
    if (documented === undefined) {
      yield "the status is not documented";
      return;
    }
    if (method === "GET") this.#missing.delete(`${path} ${status}`);
    const pointer = "$ref" in documented ? documented.$ref : `#/paths/${escaped(path)}/get/responses/${status}`;
    const response = "$ref" in documented ? this.#document.components.responses[nameIn(documented)] : documented;
    yield* this.#faultsOfHeaders(response?.headers ?? {}, headers);
    if (response?.content === undefined || method === "HEAD") {
      if (text !== "") yield "there is a body";
    } else {
      yield* this.#faultsOfBody(`${pointer}/content/application~1json/schema`, headers, text);
    }
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
      yield `the type is ${String(headers.get("content-type"))}`;
    }
    yield* this.#faultsOf(pointer, JSON.parse(text), "the body");
  }

  *#faultsOf(pointer: string, value: unknown, name: string) {
    const validate = this.#ajv.getSchema(`api${pointer}`);
    if (validate === undefined) yield `${pointer} is not in the document`;
    else if (validate(value) !== true) yield this.#ajv.errorsText(validate.errors, { dataVar: name });
  }
}

/** Those that tell a client something about the API, not about HTTP. */
const CONTRACT_HEADERS = /^(x-(?!content-type-options$)|ratelimit|retry-after$|www-authenticate$|etag$)/;

// JSON pointer (RFC 6901).
function escaped(path: string): string {
  return path.replaceAll("~", "~0").replaceAll("/", "~1");
}

function nameIn({ $ref }: Reference): string {
  return $ref.slice($ref.lastIndexOf("/") + 1);
}
