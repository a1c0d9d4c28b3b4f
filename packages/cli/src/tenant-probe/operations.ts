import { isObject } from '../is-object.ts';

/** The parts of a JSON schema that examples need. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly format?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Schema;
}

export interface Operation {
  /** Method and path, for people. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly tenancy: unknown;
  /** Whether it needs an account store, which a gateway may lack. */
  readonly accounts: boolean;
  /** The kind of stream, if it is one. */
  readonly stream: unknown;
  /** The required scope, `any` credential, an `api_key` itself, or undefined if public. */
  readonly access: string | undefined;
  readonly pathParameters: readonly string[];
  readonly query: readonly Parameter[];
  readonly body: Schema | undefined;
}

const methods = new Set(['get', 'put', 'post', 'delete', 'patch', 'options', 'head', 'trace']);

/** Every operation of an OpenAPI document. */
export function operationsOf(document: unknown): Operation[] {
  const paths = isObject(document) && isObject(document['paths']) ? document['paths'] : {};
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(isObject(item) ? item : {})
      .filter(([method]) => methods.has(method))
      .map(([method, operation]) => operationOf(method.toUpperCase(), path, isObject(operation) ? operation : {})),
  );
}

function operationOf(method: string, path: string, operation: Readonly<Record<string, unknown>>): Operation {
  const parameters = (operation['parameters'] ?? []) as readonly Parameter[];
  const requestBody = operation['requestBody'] as { content?: Record<string, { schema?: Schema }> } | undefined;
  const access = operation['x-reeve-access'];
  return {
    name: `${method} ${path}`,
    method,
    path,
    tenancy: operation['x-reeve-tenancy'],
    accounts: operation['x-reeve-accounts'] === true,
    stream: operation['x-reeve-stream'],
    access: typeof access === 'string' ? access : undefined,
    pathParameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? ''),
    query: parameters.filter((parameter) => parameter.in === 'query'),
    body: requestBody?.content?.['application/json']?.schema,
  };
}
