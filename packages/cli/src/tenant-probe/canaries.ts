import type { Scope } from '@reeve/contract/names';
import { scopes } from '@reeve/contract/names';
import { isObject } from '../is-object.ts';
import { succeeded, valueOf } from './caller.ts';
import { makeApprovals } from './make-approvals.ts';
import { makeInvite } from './make-invites.ts';
import type { AgentTriple, NewAgent, RegisteredAgent } from './ports.ts';
import type { CanarySetup, MadeKey } from './canary-setup.ts';
import { randomText } from './canary-setup.ts';

/** The keys of one binding, by scope. Nothing depends on `spare`, which the probe rotates and revokes. */
export type KeySet = Readonly<Record<Scope | 'spare', MadeKey>>;

export interface CanaryAgent extends RegisteredAgent {
  readonly name: string;
  readonly runId: string;
  /** An operation that is not over. */
  readonly opId: string;
  /** The receipt of a control of another operation. */
  readonly controlId: string;
  /** An approval that waits for a verdict. */
  readonly approvalId: string;
  readonly grantId: string;
}

/**
 * A tenant made for the probe. Team `one` holds `root` and its child. Team `both`, a name that the other tenant uses
 * too, holds `leaf`, a child of `child`, and `twin`. Both tenants have a suspended `twin` with the same id and an
 * operation of the same id.
 */
export interface Tenant {
  readonly prefix: string;
  readonly orgId: string;
  readonly teams: { readonly one: string; readonly both: string };
  readonly agents: Readonly<Record<'root' | 'child' | 'leaf' | 'twin', CanaryAgent>>;
  readonly keys: Readonly<Record<'org' | 'one' | 'both', KeySet>>;
  /** One policy of the org and one of each team, made with their own keys. By full name. */
  readonly policies: { readonly org: string; readonly one: string; readonly both: string };
  /** The same for invites, by id, and one into the org that the probe leaves alone. */
  readonly invites: Readonly<Record<'org' | 'one' | 'both' | 'wide', string>>;
}

export interface Canaries {
  readonly run: string;
  readonly a: Tenant;
  readonly b: Tenant;
}

/** The agents of each tenant that claim to be the other's: one in a team of its own, one in a team of the same name. */
export const impersonators = ['root', 'leaf'] as const;

/** Makes two tenants with agents, decisions and keys. Agents of each have claimed to be the other's. */
export async function makeCanaries(setup: CanarySetup): Promise<Canaries> {
  const run = `canary-${randomText(8)}`;
  const a = await makeTenant(setup, run, 'a');
  const b = await makeTenant(setup, run, 'b');
  for (const name of impersonators) {
    await impersonate(setup, a.agents[name], b.agents[name]);
    await impersonate(setup, b.agents[name], a.agents[name]);
  }
  return { run, a, b };
}

async function impersonate({ agents }: CanarySetup, { token }: CanaryAgent, { id }: CanaryAgent): Promise<void> {
  const { decision } = await agents.check({ id, token });
  if (decision !== 'deny') throw new Error('the gateway let an agent act with the token of another tenant');
}

async function makeTenant(setup: CanarySetup, run: string, side: 'a' | 'b'): Promise<Tenant> {
  const prefix = `${run}-${side}`;
  const teams = { one: `${prefix}-one`, both: `${run}-same` };
  const keys = {
    org: await makeKeys(setup, `${prefix}-org`, prefix, null),
    one: await makeKeys(setup, `${prefix}-one`, prefix, teams.one),
    both: await makeKeys(setup, `${prefix}-both`, prefix, teams.both),
  };
  const register = (teamId: string, agentId: string, name: string, parent?: AgentTriple, opId?: string) =>
    makeAgent(setup, keys.org.write.key, { id: { orgId: prefix, teamId, agentId }, name, parent }, opId);
  const root = await register(teams.one, `${prefix}-one-root`, `${prefix}-one-root-name`);
  const child = await register(teams.one, `${prefix}-one-child`, `${prefix}-one-child-name`, root.id);
  const leaf = await register(teams.both, `${prefix}-both-leaf`, `${prefix}-both-leaf-name`, child.id);
  const twin = await register(teams.both, `${run}-twin`, `${prefix}-both-twin-name`, undefined, `${run}-twin:op`);
  await suspend(setup, keys.org.write.key, twin.id, `${prefix}-both-reason`);
  const policies = {
    org: await makePolicy(setup, keys.org.admin.key, `${prefix}-org-policy`, sourceOf(prefix, teams.one)),
    one: await makePolicy(setup, keys.one.admin.key, `${prefix}-one-policy`, sourceOf(prefix, teams.one)),
    both: await makePolicy(setup, keys.both.admin.key, `${prefix}-both-policy`, sourceOf(prefix, teams.both)),
  };
  const invites = {
    org: await makeInvite(setup, `${prefix}-org`, keys.org.admin.key),
    one: await makeInvite(setup, `${prefix}-one`, keys.one.admin.key),
    both: await makeInvite(setup, `${prefix}-both`, keys.both.admin.key),
    wide: await makeInvite(setup, `${prefix}-wide`, keys.org.admin.key),
  };
  return { prefix, orgId: prefix, teams, agents: { root, child, leaf, twin }, keys, policies, invites };
}

/** The text of a team policy that decides nothing. */
export function sourceOf(orgId: string, teamId: string): string {
  return `scope: team:${orgId}/${teamId}\nmode: observe\n`;
}

/** Stores a policy of the tenant itself, and returns its full name. */
async function makePolicy(
  { caller, made }: CanarySetup,
  bearer: string,
  name: string,
  source: string,
): Promise<string> {
  const answer = await caller.callRoute('putPolicy', bearer, { params: { name }, body: { source } });
  // A gateway of an older release stores no policies.
  if (answer.status === 404) return name;
  const stored = succeeded(answer) ? valueOf(answer) : undefined;
  if (!isObject(stored) || typeof stored['name'] !== 'string') {
    throw new Error(`cannot store a policy of a canary: ${answer.status} ${answer.text}`);
  }
  made.policies.add(stored['name']);
  return stored['name'];
}

async function makeKeys(setup: CanarySetup, label: string, orgId: string, teamId: string | null): Promise<KeySet> {
  const make = (name: string, granted: readonly Scope[]) =>
    makeKey(setup, { label: `${label}-key-${name}`, scopes: granted, orgId, teamId });
  return {
    read: await make('read', ['read']),
    write: await make('write', ['read', 'write']),
    admin: await make('admin', scopes),
    spare: await make('spare', ['read']),
  };
}

interface Grant {
  readonly label: string;
  readonly scopes: readonly Scope[];
  readonly orgId: string;
  readonly teamId: string | null;
}

async function makeKey({ caller, adminCredential, made }: CanarySetup, grant: Grant): Promise<MadeKey> {
  const { label, scopes, orgId, teamId } = grant;
  const body = { label, scopes: [...scopes], org_id: orgId, ...(teamId === null ? {} : { team_id: teamId }) };
  const answer = await caller.callRoute('createApiKey', adminCredential, { body });
  const key = succeeded(answer) ? madeKeyIn(valueOf(answer)) : undefined;
  if (key === undefined) throw new Error(`cannot make an API key for a canary: ${answer.status} ${answer.text}`);
  made.keys.push({ ...key, orgId, teamId });
  return key;
}

/** The new key in an answer. */
export function madeKeyIn(body: unknown): MadeKey | undefined {
  if (!isObject(body)) return undefined;
  const { id, key } = body;
  return typeof id === 'string' && typeof key === 'string' ? { id, key } : undefined;
}

async function makeAgent(
  setup: CanarySetup,
  credential: string,
  agent: NewAgent,
  wanted: string | undefined,
): Promise<CanaryAgent> {
  const { agents, made } = setup;
  const { id, name } = agent;
  const { token } = await agents.registerAgent(credential, agent);
  made.agents.push({ id, token });
  const runId = name.replace(/-name$/, '-run');
  const { decision, opId: checked } = await agents.check({ id, token }, { runId, opId: wanted });
  // A denied operation is over at once. One that is only registered is not.
  const opId = decision === 'allow' ? checked : await registerOp(setup, credential, id, `${name}-op`);
  const spare = await registerOp(setup, credential, id, `${name}-spare`);
  const controlId = await terminate(setup, credential, spare, `${name}-reason`);
  return { id, token, name, runId, opId, controlId, ...(await makeApprovals(setup, { id, token }, name)) };
}

async function registerOp({ caller }: CanarySetup, bearer: string, id: AgentTriple, traceId: string): Promise<string> {
  const agent = { org_id: id.orgId, team_id: id.teamId, agent_id: id.agentId };
  const body = { agent, trace_id: traceId, span_id: 'op', summary: traceId };
  const answer = await caller.callRoute('registerOp', bearer, { body });
  const op = succeeded(answer) ? valueOf(answer) : undefined;
  if (isObject(op) && typeof op['op_id'] === 'string') return op['op_id'];
  throw new Error(`cannot register an operation of a canary: ${answer.status} ${answer.text}`);
}

/** Returns the id of the receipt. */
async function terminate({ caller }: CanarySetup, bearer: string, opId: string, reason: string): Promise<string> {
  const answer = await caller.callRoute('terminateOp', bearer, { params: { id: opId }, body: { reason } });
  const body = succeeded(answer) ? valueOf(answer) : undefined;
  const control = isObject(body) ? body['control'] : undefined;
  if (isObject(control) && typeof control['id'] === 'string') return control['id'];
  throw new Error(`cannot terminate an operation of a canary: ${answer.status} ${answer.text}`);
}

async function suspend({ caller }: CanarySetup, bearer: string, id: AgentTriple, reason: string): Promise<void> {
  const answer = await caller.callRoute('suspendAgent', bearer, { params: agentParams(id), body: { reason } });
  if (!succeeded(answer)) throw new Error(`cannot suspend a canary: ${answer.status} ${answer.text}`);
}

export function agentParams({ orgId: org, teamId: team, agentId: agent }: AgentTriple) {
  return { org, team, agent };
}
