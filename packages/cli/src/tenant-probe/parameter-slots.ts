import type { Operation, Schema } from './operations.ts';

/** What a part of a request can name. */
export type Kind =
  | 'org'
  | 'team'
  | 'agent'
  | 'key'
  | 'op'
  | 'run'
  | 'control'
  | 'approval'
  | 'grant'
  | 'invite'
  | 'policy'
  | 'source'
  | 'text';

export type Names = Readonly<Record<Kind, string>>;

/** A part of a request that names something of a tenant. */
export interface ParameterSlot {
  readonly where: 'path' | 'query' | 'body';
  readonly name: string;
  readonly kind: Kind;
}

const kinds: Readonly<Record<string, Kind>> = {
  org: 'org',
  org_id: 'org',
  team: 'team',
  team_id: 'team',
  agent: 'agent',
  agent_id: 'agent',
  op_id: 'op',
  run_id: 'run',
  // The text of a policy to put in force.
  source: 'source',
  // A search for text that only another tenant has must find nothing.
  q: 'text',
};

/** Names that the caller gives to new records. They cannot refer to anything. */
const given = new Set(['trace_id', 'span_id']);

/** The kind of `{id}` or `{name}`, by the path segment before it. */
const kindsAfter: Readonly<Record<string, Kind>> = {
  'api-keys': 'key',
  ops: 'op',
  decisions: 'op',
  control: 'control',
  approvals: 'approval',
  grants: 'grant',
  invites: 'invite',
  // A suspension would hold the probe's own agents. So the id is one that no suspension has: 404 for everybody.
  suspensions: 'control',
  policies: 'policy',
};

/** All slots of an operation that can name a tenant or something it owns. */
export function slotsOf(operation: Operation): ParameterSlot[] {
  return [
    ...operation.pathParameters.flatMap((name) => slotAt('path', name, pathKind(operation, name))),
    ...operation.query.flatMap(({ name }) => slotAt('query', name, kinds[name])),
    ...membersOf(operation.body).flatMap((name) => slotAt('body', name, kinds[name])),
  ];
}

/** Parts of a request that may name something unknown to the probe. It would try them in vain. */
export function unknownNames(operation: Operation): string[] {
  const paths = operation.pathParameters.filter((name) => pathKind(operation, name) === undefined);
  const others = [...operation.query.map(({ name }) => name), ...membersOf(operation.body)];
  const mayName = (name: string) => /(^|_)ids?$/.test(name) && kinds[name] === undefined && !given.has(name);
  return [...paths, ...others.filter(mayName)];
}

function slotAt(where: ParameterSlot['where'], name: string, kind: Kind | undefined): ParameterSlot[] {
  return kind === undefined ? [] : [{ where, name, kind }];
}

function pathKind({ path }: Operation, name: string): Kind | undefined {
  if (name !== 'id' && name !== 'name') return kinds[name];
  const parts = path.split('/');
  return kindsAfter[parts[parts.indexOf(`{${name}}`) - 1] ?? ''];
}

/** The names of a body's members at any depth, without those that only contain others. */
export function membersOf(schema: Schema | undefined): string[] {
  if (schema === undefined) return [];
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const inner = membersOf(member);
    return inner.length === 0 ? [name] : inner;
  });
  const below = [...(schema.anyOf ?? []), ...(schema.items === undefined ? [] : [schema.items])].flatMap(membersOf);
  return [...new Set([...own, ...below])];
}
