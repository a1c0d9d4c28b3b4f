import type { Call } from './caller.ts';
import type { Operation, Schema } from './operations.ts';
import type { Names, ParameterSlot } from './parameter-slots.ts';
import { membersOf, slotsOf } from './parameter-slots.ts';
import { canaryEmail, randomText } from './canary-setup.ts';

/** Values that replace the caller's own names at some slots, and further query parameters. */
export interface Substitution {
  readonly at: ReadonlyMap<ParameterSlot, string>;
  readonly query?: Readonly<Record<string, string>>;
  /** Further members of the body. */
  readonly members?: Readonly<Record<string, unknown>>;
}

export const nothingElse: Substitution = { at: new Map() };

/**
 * Builds a call that the operation would accept from the owner of `own`: a filled path and only the required members of
 * the body. Substituted values are present even if optional.
 */
export function buildCall(operation: Operation, own: Names, substitution: Substitution): Omit<Call, 'bearer'> {
  const { at, query = {}, members } = substitution;
  const slots = slotsOf(operation);
  const given = (where: ParameterSlot['where'], name: string) =>
    [...at].find(([p]) => p.where === where && p.name === name)?.[1];
  const fallback = (where: ParameterSlot['where'], name: string) => {
    const slot = slots.find((candidate) => candidate.where === where && candidate.name === name);
    return slot === undefined ? undefined : own[slot.kind];
  };
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(given('path', name) ?? fallback('path', name) ?? 'canary'),
  );
  // A stream shows past events only on request.
  const search = new URLSearchParams(operation.stream === undefined ? query : { since: '0', ...query });
  for (const { name, required, schema } of operation.query) {
    const value = given('query', name) ?? (required ? (fallback('query', name) ?? text(exampleOf(schema))) : undefined);
    if (value !== undefined && !search.has(name)) search.set(name, value);
  }
  const body =
    operation.body === undefined
      ? undefined
      : exampleOf(operation.body, {
          given: (name) => given('body', name),
          fallback: (name) => fallback('body', name),
        });
  return {
    method: operation.method,
    path: search.size === 0 ? path : `${path}?${search.toString()}`,
    body: members === undefined ? body : { ...(body as object), ...members },
  };
}

interface Members {
  readonly given: (name: string) => string | undefined;
  readonly fallback: (name: string) => string | undefined;
}

const noMembers: Members = { given: () => undefined, fallback: () => undefined };

/** The smallest value that a schema accepts. */
function exampleOf(schema: Schema, members: Members = noMembers): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.anyOf !== undefined) {
    return exampleOf(schema.anyOf.find(({ type }) => type !== 'null') ?? {}, members);
  }
  switch (String([schema.type].flat()[0])) {
    case 'object':
      return exampleObject(schema, members);
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => exampleOf(schema.items ?? {}, members));
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      // Such as "all" of a control: never do more than asked.
      return false;
    case 'null':
      return null;
    default:
      return exampleText(schema);
  }
}

function exampleText({ format, minLength = 0 }: Schema): string {
  if (format === 'date-time') return '2000-01-01T00:00:00.000Z';
  // Nobody reads the mail of this domain (RFC 2606), and two calls do not mean the same person.
  if (format === 'idn-email') return canaryEmail(randomText(12));
  return 'canary'.padEnd(minLength, '-');
}

function exampleObject(schema: Schema, members: Members): Record<string, unknown> {
  const entries = Object.entries(schema.properties ?? {}).flatMap(([name, member]): [string, unknown][] => {
    const given = members.given(name);
    if (given !== undefined) return [[name, given]];
    const isNeeded = schema.required?.includes(name) === true;
    // An optional object is present if something inside of it is substituted.
    const isWanted = isNeeded || membersOf(member).some((inner) => members.given(inner) !== undefined);
    return isWanted ? [[name, (isNeeded ? members.fallback(name) : undefined) ?? exampleOf(member, members)]] : [];
  });
  return { ...fillUp(schema, members, entries.length), ...Object.fromEntries(entries) };
}

/** If a name is required but none is given, uses the caller's own, from the end, where the narrowest stands. */
function fillUp({ properties = {}, minProperties = 0 }: Schema, members: Members, present: number) {
  const own = Object.keys(properties).flatMap((name): [string, string][] => {
    const value = members.fallback(name);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(present < minProperties ? own.slice(present - minProperties) : []);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
