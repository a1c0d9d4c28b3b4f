import type { Scope } from '@reeve/contract/names';
import { scopes } from '@reeve/contract/names';
import type { Canaries, CanaryAgent, KeySet, Tenant } from './canaries.ts';
import { sourceOf } from './canaries.ts';
import { randomText } from './canary-setup.ts';
import type { Foreign } from './markers.ts';
import type { Kind, Names } from './parameter-slots.ts';

/** A record that is not the caller's, and a similar one that does not exist. The two must get the same answer. */
export interface Other {
  readonly what: string;
  readonly names: Partial<Names>;
  readonly missing: Partial<Names>;
}

/** A credential of tenant A, what it owns and what it must not see. */
export interface Credential {
  readonly name: string;
  readonly bearer: string;
  readonly level: Scope;
  readonly isToken: boolean;
  readonly orgId: string;
  readonly teamId: string | null;
  readonly own: Names;
  readonly others: readonly Other[];
  readonly foreign: Foreign;
  /** Ancestors of its agents that belong to another team. */
  readonly ancestors: readonly CanaryAgent[];
  /** The number of records that it may see. */
  readonly owned: Readonly<Record<'agents' | 'roots' | 'teams' | 'orgs', number>>;
}

type Team = 'one' | 'both';

/** Every credential of tenant A in the probe: each scope of each binding, and tokens made from keys. */
export function credentialsOf(canaries: Canaries, tokens: Readonly<Record<'org' | 'one', string>>): Credential[] {
  const org = inOrg(canaries);
  const team = inTeam(canaries, 'one');
  const keys = (name: string, set: KeySet, rest: Omit<Credential, 'name' | 'bearer' | 'level' | 'isToken'>) =>
    scopes.map((level) => ({ ...rest, name: `${name} ${level} key`, bearer: set[level].key, level, isToken: false }));
  return [
    ...keys('org', canaries.a.keys.org, org),
    ...keys('team', canaries.a.keys.one, team),
    ...keys('second team', canaries.a.keys.both, inTeam(canaries, 'both')),
    { ...org, name: 'org admin token', bearer: tokens.org, level: 'admin', isToken: true },
    { ...team, name: 'team admin token', bearer: tokens.one, level: 'admin', isToken: true },
  ];
}

function inOrg({ run, a, b }: Canaries): Omit<Credential, 'name' | 'bearer' | 'level' | 'isToken'> {
  const own = namesOf(a, a.teams.one, a.agents.root, a.keys.org);
  return {
    orgId: a.orgId,
    teamId: null,
    own,
    others: [...othersIn(b, run), { what: 'a key of a team', ...keyOf(a.keys.one) }],
    foreign: { prefixes: [b.prefix], exact: [], values: valuesOf(b, ['org', 'one', 'both']) },
    ancestors: [],
    owned: { agents: 4, roots: 2, teams: 2, orgs: 1 },
  };
}

function inTeam({ run, a, b }: Canaries, team: Team): Omit<Credential, 'name' | 'bearer' | 'level' | 'isToken'> {
  const rest = team === 'one' ? 'both' : 'one';
  const agentOf = { one: a.agents.root, both: a.agents.leaf };
  const neighbour = namesOf(a, a.teams[rest], agentOf[rest], a.keys[rest]);
  const { org: _, source: __, ...names } = neighbour;
  // The other tenant has an operation of the same id, which must not interfere.
  const shared = { op: a.agents.twin.opId };
  return {
    orgId: a.orgId,
    teamId: a.teams[team],
    own: { ...namesOf(a, a.teams[team], agentOf[team], a.keys[team]), ...(team === 'both' ? shared : {}) },
    others: [
      ...othersIn(b, run),
      { what: 'another team', names, missing: missingLike(names, run) },
      { what: 'a key of the whole org', ...keyOf(a.keys.org) },
      { what: 'an invite into the whole org', ...inviteOf(a, run) },
    ],
    foreign: {
      prefixes: [b.prefix, `${a.prefix}-${rest}`],
      exact: rest === 'both' ? [a.teams.both, a.agents.twin.id.agentId] : [],
      values: [...valuesOf(b, ['org', 'one', 'both']), ...valuesOf(a, [rest])],
    },
    ancestors: team === 'both' ? [a.agents.root, a.agents.child] : [],
    owned: { agents: 2, roots: 1, teams: 1, orgs: 1 },
  };
}

/** An active agent of the other tenant, and a suspended one whose team and agent names equal the caller's own. */
function othersIn(b: Tenant, run: string): Other[] {
  // A policy text names no record, so nobody is asked for it.
  const { source: _, ...root } = namesOf(b, b.teams.one, b.agents.root, b.keys.org);
  const { team, agent, op, source: __, ...rest } = namesOf(b, b.teams.both, b.agents.twin, b.keys.both);
  // The short id would mean the caller's own operation.
  const twin = { ...rest, op: `${b.orgId}/${team}/${agent}/${op}` };
  return [
    { what: 'another org', names: root, missing: missingLike(root, run) },
    {
      what: 'another org with teams and agents of the same name',
      names: { team, agent, ...twin },
      missing: { team, agent, ...missingLike(twin, run) },
    },
  ];
}

function namesOf(tenant: Tenant, team: string, agent: CanaryAgent, keys: KeySet): Names {
  return {
    org: tenant.orgId,
    team,
    agent: agent.id.agentId,
    key: keys.spare.id,
    op: agent.opId,
    run: agent.runId,
    control: agent.controlId,
    approval: agent.approvalId,
    grant: agent.grantId,
    invite: tenant.invites[bindingOf(tenant, keys)],
    policy: tenant.policies[bindingOf(tenant, keys)],
    source: sourceOf(tenant.orgId, team),
    text: agent.name,
  };
}

/** The binding of the keys. Each binding has its own policy, which a narrower one cannot change. */
function bindingOf({ keys: { org, one } }: Tenant, keys: KeySet): keyof Tenant['policies'] {
  if (keys === org) return 'org';
  return keys === one ? 'one' : 'both';
}

function keyOf(keys: KeySet): Pick<Other, 'names' | 'missing'> {
  return { names: { key: keys.spare.id }, missing: { key: randomText(keys.spare.id.length) } };
}

function inviteOf({ invites }: Tenant, run: string): Pick<Other, 'names' | 'missing'> {
  const names = { invite: invites.wide };
  return { names, missing: missingLike(names, run) };
}

/** Unused names of the same form and length. */
function missingLike(names: Partial<Names>, run: string): Partial<Names> {
  const like = (name: string): string => {
    if (name.includes('/')) return name.split('/').map(like).join('/');
    if (name === `${run}-same`) return `${run}-none`;
    if (name.startsWith(run)) return name.replace(new RegExp(`^${run}-[ab](?=-|$)`), `${run}-x`);
    return name.replaceAll(/[a-z0-9]/g, () => randomText(1, alphabetOf(name)));
  };
  const entries = Object.entries(names) as [Kind, string][];
  return Object.fromEntries(entries.map(([kind, name]) => [kind, like(name)]));
}

/** Letters for a key id, hexadecimal digits for a name that has only these. */
function alphabetOf(name: string): string {
  return /^[0-9a-f:-]+$/.test(name) ? '0123456789abcdef' : 'abcdefghijklmnopqrstuvwxyz234567';
}

function valuesOf(tenant: Tenant, groups: readonly ('org' | Team)[]): string[] {
  const { root, child, leaf, twin } = tenant.agents;
  const agentsIn = { org: [], one: [root, child], both: [leaf, twin] };
  const keys = groups.flatMap((group) => Object.values(tenant.keys[group]).flatMap(({ id, key }) => [id, key]));
  const agents = groups.flatMap((group) =>
    agentsIn[group].flatMap(({ token, opId, controlId, approvalId, grantId }) => [
      token,
      controlId,
      approvalId,
      grantId,
      ...(opId === twin.opId ? [] : [opId]),
    ]),
  );
  return [...keys, ...agents, ...groups.map((group) => tenant.invites[group])];
}

/** Whether a credential has the access that an operation needs. */
export function suffices({ level, isToken }: Credential, access: string | undefined): boolean {
  if (access === 'api_key') return !isToken;
  const needed = scopes.findIndex((one) => one === access);
  return scopes.indexOf(level) >= needed;
}
