import { z } from 'zod';
import { eventSchema } from '../events.ts';
import type { ProblemCode } from './problem.ts';
import { problemSchema, problemStatus } from './problem.ts';
import type { Route } from './route.ts';
import { commonProblems } from './route.ts';
import { routes } from './routes.ts';

type JsonObject = { [member: string]: unknown };

/** Builds the OpenAPI 3.1 document from the same schemas that check requests. */
export function openApiDocument(version: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  const shared: JsonObject = { Problem: schemaOf(problemSchema, 'output'), Event: schemaOf(eventSchema, 'output') };
  for (const [name, route] of Object.entries<Route>(routes)) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(name, route) };
  }
  return hoisted(shared, {
    openapi: '3.1.0',
    info: {
      title: 'Reeve',
      version,
      description: 'The HTTP API of the agent governance gateway. Errors are problems of RFC 9457 with a stable code.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: shared,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or a JWT from the token exchange.' },
        ticket: { type: 'apiKey', in: 'query', name: 'ticket', description: 'Good for one stream, for 30 seconds.' },
      },
    },
  });
}

/** Recursive schemas have names. OpenAPI keeps these names in one place for the whole document. */
function hoisted(shared: JsonObject, document: JsonObject): JsonObject {
  const text = JSON.stringify(document, (member, value: unknown) => {
    if (member !== '$defs') return value;
    Object.assign(shared, value);
    return undefined;
  });
  const components = { ...(JSON.parse(text) as { components: JsonObject }).components, schemas: shared };
  return JSON.parse(
    JSON.stringify({ ...JSON.parse(text), components }).replaceAll('#/$defs/', '#/components/schemas/'),
  ) as JsonObject;
}

function operation(name: string, route: Route): JsonObject {
  return {
    operationId: name,
    tags: [route.tag],
    summary: route.summary,
    'x-reeve-tenancy': route.tenancy,
    ...(route.accounts === true ? { 'x-reeve-accounts': true } : {}),
    ...(route.access === 'public'
      ? { security: [] }
      : { security: credentials(route), 'x-reeve-access': route.access }),
    ...(route.stream === undefined ? {} : { 'x-reeve-stream': route.stream, 'x-reeve-events': eventReference }),
    parameters: [
      ...parameters('path', route.params),
      ...parameters('query', route.query),
      ...parameters('header', route.headers),
    ],
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body) }),
    responses: { ...successes(route), ...problems(route) },
  };
}

const eventReference = { $ref: '#/components/schemas/Event' };

function credentials({ stream }: Route): JsonObject[] {
  return stream === undefined ? [{ bearer: [] }] : [{ bearer: [] }, { ticket: [] }];
}

function parameters(where: 'path' | 'query' | 'header', schema: z.ZodObject | undefined): JsonObject[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    schema: property,
  }));
}

function requestBody(body: z.ZodObject): JsonObject {
  const schema = schemaOf(body, 'input') as { required?: string[] };
  const required = (schema.required ?? []).length > 0;
  return { required, content: { 'application/json': { schema } } };
}

function successes({ success }: Route): Record<number, JsonObject> {
  const content = contentOf(success);
  const all = [success, ...(success.alternative === undefined ? [] : [success.alternative])];
  return Object.fromEntries(all.map(({ status, description }) => [status, { description, ...content }]));
}

function contentOf({ body, types }: Route['success']): JsonObject {
  if (body !== undefined) return { content: { 'application/json': { schema: schemaOf(body, 'output') } } };
  return types === undefined ? {} : { content: Object.fromEntries(types.map((type) => [type, {}])) };
}

function problems(route: Route): Record<number, JsonObject> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set<ProblemCode>([...commonProblems(route), ...route.problems])) {
    const status = problemStatus[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [status, { description: codes.toSorted().join(', '), content }]),
  );
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io,
    unrepresentable: 'any',
    // zod leaves out the defaults of values that are read from text.
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema instanceof z.ZodDefault && io === 'input') jsonSchema.default = zodSchema.def.defaultValue;
    },
  });
  return rest;
}
