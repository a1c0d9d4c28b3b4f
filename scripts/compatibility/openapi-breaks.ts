import type { Schema } from './schema-breaks.ts';
import { schemaBreaks } from './schema-breaks.ts';

interface Content {
  readonly [type: string]: { readonly schema?: Schema };
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content?: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** What of an OpenAPI document callers depend on. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** What a program that was written for the document before may trip over. */
export function openApiBreaks(before: ApiDocument, after: ApiDocument): readonly string[] {
  const definitions = { before: definitionsOf(before), after: definitionsOf(after) };
  const breaks = Object.entries(before.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) => {
      const where = `${method.toUpperCase()} ${path}`;
      const now = after.paths[path]?.[method];
      return now === undefined ? [`${where}: is gone`] : [...operationBreaks(operation, now, where, definitions)];
    }),
  );
  return [...new Set(breaks)];
}

type Definitions = Record<'before' | 'after', Readonly<Record<string, Schema>>>;

function definitionsOf({ components }: ApiDocument): Readonly<Record<string, Schema>> {
  const schemas = Object.entries(components?.schemas ?? {});
  return Object.fromEntries(schemas.map(([name, schema]) => [`#/components/schemas/${name}`, schema]));
}

function* operationBreaks(
  before: Operation,
  after: Operation,
  where: string,
  definitions: Definitions,
): Generator<string> {
  yield* parameterBreaks(before.parameters ?? [], after.parameters ?? [], where, definitions);
  const [body, bodyNow] = [before.requestBody, after.requestBody];
  if (bodyNow?.required === true && body?.required !== true) yield `${where}: needs a body now`;
  if (body !== undefined) {
    const sent = { ...definitions, direction: 'sent', where: `${where} body` } as const;
    yield* contentBreaks(body.content ?? {}, bodyNow?.content ?? {}, sent);
  }
  for (const [status, answer] of Object.entries(before.responses)) {
    const now = after.responses[status];
    // A refusal that no longer happens is missed by nobody.
    if (now === undefined && !status.startsWith('2')) continue;
    const received = { ...definitions, direction: 'received', where: `${where} ${status}` } as const;
    if (now === undefined) yield `${where}: does not answer ${status} any more`;
    else yield* contentBreaks(answer.content ?? {}, now.content ?? {}, received);
  }
}

function* parameterBreaks(
  before: readonly Parameter[],
  after: readonly Parameter[],
  where: string,
  definitions: Definitions,
): Generator<string> {
  const keyOf = (one: Parameter) => `${one.in} ${one.name}`;
  for (const one of before) {
    const now = after.find((other) => keyOf(other) === keyOf(one));
    const at = `${where} ${keyOf(one)}`;
    if (now === undefined) yield `${at}: is gone`;
    else yield* schemaBreaks(one.schema ?? {}, now.schema ?? {}, { ...definitions, direction: 'sent', where: at });
  }
  for (const one of after) {
    const was = before.find((other) => keyOf(other) === keyOf(one));
    if (one.required === true && was?.required !== true) yield `${where} ${keyOf(one)}: is required now`;
  }
}

function* contentBreaks(before: Content, after: Content, place: Parameters<typeof schemaBreaks>[2]): Generator<string> {
  for (const [type, { schema = {} }] of Object.entries(before)) {
    const now = after[type];
    if (now === undefined) yield `${place.where}: is not ${type} any more`;
    else yield* schemaBreaks(schema, now.schema ?? {}, place);
  }
}
