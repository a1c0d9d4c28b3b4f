/** The parts of a JSON schema that values are generated from. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  /** For an object: which members go together. */
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly contentMediaType?: string;
  /** Further schemas that must hold as well. */
  readonly allOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
}

interface Media {
  readonly schema?: JsonSchema;
}

export interface DeclaredAnswer {
  readonly content?: Readonly<Record<string, Media>>;
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  /** The required scope, `any` or `api_key`. Undefined if public. */
  readonly access: string | undefined;
  readonly tenancy: string;
  readonly parameters: readonly Parameter[];
  readonly body: JsonSchema | undefined;
  readonly answers: Readonly<Record<string, DeclaredAnswer>>;
}

export interface ApiDocument {
  readonly operations: readonly Operation[];
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

interface RawOperation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, DeclaredAnswer>>;
  readonly 'x-reeve-access'?: string;
  readonly 'x-reeve-tenancy': string;
}

interface RawDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** Reads a gateway's own description. */
export async function readDocument(base: string): Promise<ApiDocument> {
  const response = await fetch(`${base}/openapi.json`);
  const { paths, components } = (await response.json()) as RawDocument;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, raw]) => ({
      method: method.toUpperCase(),
      path,
      access: raw['x-reeve-access'],
      tenancy: raw['x-reeve-tenancy'],
      parameters: raw.parameters,
      body: raw.requestBody?.content['application/json']?.schema,
      answers: raw.responses,
    })),
  );
  return { operations, schemas: components.schemas };
}

export interface Reached {
  readonly operation: Operation;
  /** The path parameters, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The operation that a method and a target reach, as the router sees it. HEAD is a GET without a body. */
export function reachedBy({ operations }: ApiDocument, method: string, target: string): Reached | undefined {
  const asked = method === 'HEAD' ? 'GET' : method;
  for (const operation of operations.filter((candidate) => candidate.method === asked)) {
    const parameters = parametersIn(operation, target);
    if (parameters !== undefined) return { operation, parameters };
  }
  return undefined;
}

/** The documented methods of a target's path. */
export function methodsAt({ operations }: ApiDocument, target: string): string[] {
  return operations.filter((operation) => parametersIn(operation, target) !== undefined).map(({ method }) => method);
}

function parametersIn({ path }: Operation, target: string): Record<string, string> | undefined {
  const parts = pathOf(target).split('/').map(decoded);
  const wanted = path.split('/');
  // The router takes no empty part for a parameter.
  const fits = wanted.every((part, at) => (part.startsWith('{') ? parts[at] !== '' : part === parts[at]));
  if (parts.length !== wanted.length || !fits) return undefined;
  const named = wanted.flatMap((part, at) => (part.startsWith('{') ? [[part.slice(1, -1), parts[at] ?? '']] : []));
  return Object.fromEntries(named) as Record<string, string>;
}

/** Removes the query, a fragment, and the origin that a request to a proxy has. */
function pathOf(target: string): string {
  return (target.split(/[?#]/)[0] ?? '').replace(/^http:\/\/[^/]*/, '');
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
