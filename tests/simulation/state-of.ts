import type { Governance } from '@reeve/core';
import { agentKey, recordOf } from '@reeve/core';

/** A start no longer tells an agent what was decided a day before. */
const toldMs = 23 * 3_600_000;

/** What gateways agree on: the names of things, sorted, and how they are. */
export type State = ReadonlyMap<string, string>;

/** Everything that gateways at the same place of the log must agree on. */
export function stateOf(gov: Governance, now: number): State {
  const things: [string, string][] = [];
  const tell = (kind: string, name: string, value: unknown) => things.push([`${kind} ${name}`, textOf(value)]);
  for (const agent of gov.directory.all()) {
    const { key, record, blocked } = agent;
    tell('agent', key, { record, blocked });
    for (const op of gov.ops.of(agent)) {
      // Each gateway forgets by its own clock what is over.
      if (op.state === 'completing' || op.state === 'terminated') continue;
      // A start does not know who was silent before.
      tell('operation', `${key}/${op.opId}`, { ...recordOf(op), stale: false });
      tell('approval of', `${key}/${op.opId}`, gov.approvals.ofOp(record.id, op.opId) ?? null);
    }
    tell('labels of', key, gov.runs.labels.of({ of: 'agent', place: { ...record.id, runId: '' } }));
    tell('open approvals', key, gov.approvals.openCountOf(key));
    const { lastSequence } = gov.control.outbox(record.id);
    tell('sequence', key, lastSequence);
    for (const { message } of gov.control.find(key)?.queued() ?? []) {
      if (now - message.issuedAt < toldMs) tell('message', `${key} ${message.sequence}`, message);
    }
  }
  for (const { of, reserved, spent, noticed } of gov.ledger.all()) {
    if (reserved !== 0 || spent.month !== 0) tell('balance', textOf(of), { reserved, spent, noticed });
  }
  for (const { name, counts } of gov.rates.all()) {
    const newest = countedOf(name, counts?.steps ?? []);
    // Each gateway forgets by its own clock what counts no more.
    if (newest.endsAt > now) tell('rate', name, newest.steps);
  }
  for (const delegation of gov.directory.delegations.all) tell('delegation', agentKey(delegation.id), delegation);
  for (const { name, place, checks, denied, spentMicros, costMicros, agents, underWay } of gov.runs.all()) {
    const labels = gov.runs.labels.of({ of: 'run', place });
    tell('counted', name, { checks, denied, spentMicros, costMicros, agents, underWay, labels });
  }
  // About when a control last refused a check is kept to the hour.
  for (const control of gov.control.runs.all()) tell('run', control.controlId, { ...control, refusedAt: null });
  for (const suspension of gov.directory.suspensions.all()) tell('suspension', suspension.id, suspension);
  for (const key of gov.keys.all()) tell('key', key.id, { ...key, lastUsedAt: null });
  tell('policies', '', gov.policies.version);
  return new Map(things.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The steps of the newest window, and until when they count. */
function countedOf(name: string, saved: readonly number[]) {
  const windowMs = Number(/\.(\d+)\.[0-9a-f]+$/.exec(name)?.[1]) * 1000;
  const stepMs = Math.ceil(windowMs / 4096);
  const steps: [step: number, count: number][] = [];
  let step = 0;
  for (let at = 0; at + 1 < saved.length; at += 2) steps.push([(step += saved[at] ?? 0), saved[at + 1] ?? 0]);
  const end = (step + 1) * stepMs;
  return { endsAt: end + windowMs, steps: steps.filter(([one]) => (one + 1) * stepMs > end - windowMs) };
}

/** A line for each thing that is different in two states. Of what both have, it shows the members that differ. */
export function differenceOf(one: State, other: State): readonly string[] {
  if (one.size === other.size && [...one].every(([name, text]) => other.get(name) === text)) return [];
  const names = [...new Set([...one.keys(), ...other.keys()])].filter((name) => one.get(name) !== other.get(name));
  return names.map((name) => {
    const [left, right] = [one.get(name), other.get(name)];
    if (left === undefined) return `+ ${name} ${right}`;
    if (right === undefined) return `- ${name} ${left}`;
    return `± ${name} ${membersThatDiffer(JSON.parse(left), JSON.parse(right)).join(', ')}`;
  });
}

function membersThatDiffer(one: unknown, other: unknown, path = ''): readonly string[] {
  if (textOf(one) === textOf(other)) return [];
  if (!isObject(one) || !isObject(other)) return [`${path}: -${textOf(one)} +${textOf(other)}`];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) =>
    membersThatDiffer(one[name], other[name], path === '' ? name : `${path}.${name}`),
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * As JSON, the same whatever the order of members is: a store may read them in another one. A simulation
 * spends much of its time here, so it makes no sorted copies for `JSON.stringify`.
 */
export function textOf(value: unknown): string {
  return written(value) ?? 'null';
}

/** Undefined for what JSON leaves out of an object. */
function written(value: unknown): string | undefined {
  if (typeof value === 'bigint') return `"${value}"`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  return hasOwnForm(value) ? written(value.toJSON()) : membersOf(value as Readonly<Record<string, unknown>>);
}

function membersOf(value: Readonly<Record<string, unknown>>): string {
  let text = '';
  for (const [name, before] of sortedOf(Object.keys(value))) {
    const member = written(value[name]);
    if (member !== undefined) text += `${text === '' ? '' : ','}${before}${member}`;
  }
  return `{${text}}`;
}

/** The names of members that occur together, sorted, and what stands before each. */
const known = new Map<string, readonly (readonly [name: string, before: string])[]>();

/** Objects of one kind have the same members, and to sort them takes longer than to find them. */
function sortedOf(names: string[]): readonly (readonly [name: string, before: string])[] {
  const together = names.join('\n');
  let sorted = known.get(together);
  if (sorted !== undefined) return sorted;
  sorted = names.sort().map((name) => [name, `${JSON.stringify(name)}:`] as const);
  if (known.size < 1000) known.set(together, sorted);
  return sorted;
}

function hasOwnForm(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}
