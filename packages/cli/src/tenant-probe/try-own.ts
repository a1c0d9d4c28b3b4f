import { scopes } from '@reeve/contract/names';
import type { Substitution } from './build-call.ts';
import { nothingElse } from './build-call.ts';
import type { Answer } from './caller.ts';
import { isObject } from '../is-object.ts';
import { codeOf, isOtherProtocol, succeeded, valueOf } from './caller.ts';
import { difference, holdsNothing } from './compare-answers.ts';
import type { Credential, Other } from './credentials.ts';
import { suffices } from './credentials.ts';
import type { Operation } from './operations.ts';
import type { Names, ParameterSlot } from './parameter-slots.ts';
import { slotsOf } from './parameter-slots.ts';
import type { Probe } from './probe.ts';
import { ask, lookThrough } from './probe.ts';
import { isSwitchedOff } from './switched-off.ts';

/** Tries an operation that shows and changes only what the caller owns. False if this gateway does not offer it. */
export async function tryOwn(probe: Probe, operation: Operation, credential: Credential): Promise<boolean> {
  if (!suffices(credential, operation.access)) {
    await tryWithoutScope(probe, operation, credential);
    return true;
  }
  for (const { how, substitution, isWhole } of ownWays(operation, credential)) {
    const answer = await ask(probe, operation, credential, substitution);
    lookThrough(probe, operation, credential, how, answer);
    if (operation.accounts && isSwitchedOff(answer)) return false;
    // Otherwise the probe would test nothing here.
    if (
      !succeeded(answer) &&
      !isOver(answer, operation) &&
      !needsMore(answer, credential) &&
      !isIncomplete(answer, operation) &&
      !isOtherProtocol(answer)
    ) {
      probe.notebook.find(operation.name, credential.name, `refuses what is its own, ${how}: ${summaryOf(answer)}`);
    }
    if (succeeded(answer) && isWhole) checkNumbers(probe, operation, credential, how, answer);
  }
  for (const other of credential.others) {
    for (const slots of waysToName(operation, other)) await tryOther(probe, operation, credential, other, slots);
  }
  return true;
}

/**
 * Whether it was done before: a revoked key cannot be rotated, an ended operation cannot be paused, a deleted record
 * cannot be deleted, and an invite that was sent again has another id.
 */
function isOver(answer: Answer, { method }: Operation): boolean {
  if (method === 'DELETE' && answer.status === 404) return true;
  if (codeOf(answer) === 'invite_not_found') return true;
  return answer.status === 409 && codeOf(answer) !== 'ambiguous_op';
}

/**
 * Whether the operation needs a higher scope when called like this: for a whole org, for deciding on or resuming an
 * agent that was registered with the same key, or for what a wider credential has imposed.
 */
function needsMore(answer: Answer, { level }: Credential): boolean {
  const problem = valueOf(answer);
  if (codeOf(answer) === 'own_approval') return level !== 'admin';
  if (['own_agent', 'imposed_by_wider'].includes(codeOf(answer))) return true;
  if (answer.status !== 403 || !isObject(problem) || problem['code'] !== 'insufficient_scope') return false;
  return scopes.findIndex((one) => one === problem['required_scope']) > scopes.indexOf(level);
}

/** What these say to a call that does not name all of the place that is meant. */
const incomplete: Readonly<Record<string, readonly string[]>> = {
  // A credential of a team suspends no org, and nobody a team without its org.
  'POST /api/v1/suspensions': ['tenant_bound', 'validation_failed'],
  // A run is in a team, which a credential of an org must name. Either the run or the agent is cleared.
  'GET /api/v1/runs/{run_id}': ['run_not_found'],
  'POST /api/v1/runs/labels/clear': ['run_not_found', 'agent_not_found', 'validation_failed'],
};

function isIncomplete(answer: Answer, { name }: Operation): boolean {
  return incomplete[name]?.includes(codeOf(answer)) === true;
}

interface OwnWay {
  readonly how: string;
  readonly substitution: Substitution;
  /** Whether the call asks for everything that the caller owns. */
  readonly isWhole: boolean;
}

/** Calls with its own ids: without a filter, with each filter alone, and with each value of an enumeration. */
function ownWays(operation: Operation, { own, teamId }: Credential): OwnWay[] {
  // A new record belongs to the caller's own binding, which may have no team.
  const isOwn = ({ where, kind }: ParameterSlot) =>
    where === 'query' || (where === 'body' && (kind !== 'team' || teamId !== null));
  const choices = operation.query.flatMap(({ name, schema }) =>
    (schema.enum ?? []).map((value) => ({ name, value: String(value) })),
  );
  return [
    { how: 'asked for its own', substitution: nothingElse, isWhole: true },
    ...slotsOf(operation)
      .filter(isOwn)
      .map((slot) => ({
        how: `asked with its own ${slot.name}`,
        substitution: { at: new Map([[slot, own[slot.kind]]]) },
        isWhole: slot.kind === 'org',
      })),
    ...choices.map(({ name, value }) => ({
      how: `asked with ${name}=${value}`,
      substitution: { at: new Map(), query: { [name]: value } },
      isWhole: false,
    })),
  ];
}

/** Each slot alone that can name a foreign record, all in the path, and all at once. */
function waysToName(operation: Operation, { names, missing }: Other): ParameterSlot[][] {
  const nameable = slotsOf(operation).filter(({ kind }) => names[kind] !== undefined);
  const isForeign = ({ kind }: ParameterSlot) => names[kind] !== missing[kind];
  const ways = [
    ...nameable.filter(isForeign).map((slot) => [slot]),
    nameable.filter(({ where }) => where === 'path'),
    nameable,
  ];
  const distinct = new Map(ways.map((slots) => [slots.map(({ where, name }) => `${where}/${name}`).join(), slots]));
  return [...distinct.values()].filter((slots) => slots.some(isForeign));
}

async function tryOther(
  probe: Probe,
  operation: Operation,
  credential: Credential,
  { what, names, missing }: Other,
  slots: readonly ParameterSlot[],
): Promise<void> {
  const { notebook } = probe;
  const name = operation.name;
  const at = (values: Partial<Names>) => new Map(slots.map((slot) => [slot, values[slot.kind] ?? '']));
  const how = `asked for ${what} by ${slots.map((slot) => slot.name).join(', ')} in the ${wheres(slots)}`;
  const answer = await ask(probe, operation, credential, { at: at(names) });
  const like = await ask(probe, operation, credential, { at: at(missing) });
  notebook.comparisons++;
  lookThrough(probe, operation, credential, how, answer, sentIn(at(names)));
  const fault = faultOf(answer, slots, operation);
  if (fault !== undefined) notebook.find(name, credential.name, `${fault}, ${how}: ${summaryOf(answer)}`);
  const plain = slots.map(({ kind }) => [names[kind] ?? '', missing[kind] ?? ''] as const);
  const swaps = plain.flatMap(([from, to]) => [
    [from, to] as const,
    [encodeURIComponent(from), encodeURIComponent(to)] as const,
  ]);
  const told = difference(answer, like, swaps);
  if (told !== undefined)
    notebook.find(name, credential.name, `tells it from one that does not exist by ${told}, ${how}`);
}

function faultOf(answer: Answer, slots: readonly ParameterSlot[], { method, path }: Operation): string | undefined {
  const isNamed = (where: ParameterSlot['where']) => slots.some((slot) => slot.where === where);
  if (isNamed('path')) {
    // A PUT creates the record, so it need not exist. The name lies in another tenant's namespace.
    const expected = method === 'PUT' ? 403 : 404;
    return answer.status === expected ? undefined : `answers something else than ${expected}`;
  }
  // A simulated agent need not exist, nor a team that somebody is invited into. In the caller's own org it may have any name.
  const mayBeNew = path.endsWith('/simulate') || path.endsWith('/auth/invite');
  if (mayBeNew && succeeded(answer) && slots.every(({ kind }) => kind !== 'org')) return undefined;
  if (isNamed('body') || method !== 'GET') {
    const isRefused = answer.status >= 400 && answer.status < 500;
    return isRefused || (succeeded(answer) && holdsNothing(answer)) ? undefined : 'does not refuse what is not its own';
  }
  if (answer.status === 404 || isOtherProtocol(answer) || (succeeded(answer) && holdsNothing(answer))) return undefined;
  return succeeded(answer) ? 'answers with something instead of nothing' : 'answers something else than nothing';
}

/** The sent values and their parts: an operation id may hold the names of its org, team and agent. */
function sentIn(at: Substitution['at']): string[] {
  return [...at.values()].flatMap((value) => [value, ...value.split(/[/:]/)]);
}

export async function tryWithoutScope(probe: Probe, operation: Operation, credential: Credential): Promise<void> {
  const all = slotsOf(operation);
  const asked: [string, Substitution][] = [
    ['asked for its own without the scope', nothingElse],
    ...credential.others.map(({ what, names }): [string, Substitution] => [
      `asked for ${what} without the scope`,
      {
        at: new Map(all.flatMap((slot) => (names[slot.kind] === undefined ? [] : [[slot, names[slot.kind] ?? '']]))),
      },
    ]),
  ];
  for (const [how, substitution] of asked) {
    const answer = await ask(probe, operation, credential, substitution);
    lookThrough(probe, operation, credential, how, answer, sentIn(substitution.at));
    if (operation.accounts && isSwitchedOff(answer)) continue;
    if (answer.status !== 403 || codeOf(answer) !== 'insufficient_scope') {
      probe.notebook.find(
        operation.name,
        credential.name,
        `is not refused for its scope, ${how}: ${summaryOf(answer)}`,
      );
    }
  }
}

/** Counts in an answer must match what the caller owns. */
function checkNumbers(probe: Probe, operation: Operation, credential: Credential, how: string, answer: Answer): void {
  const body = valueOf(answer);
  if (!isObject(body)) return;
  for (const numbers of [body, isObject(body['totals']) ? body['totals'] : {}]) {
    for (const [name, owned] of Object.entries(credential.owned)) {
      const said = numbers[name];
      if (typeof said !== 'number' || said === owned) continue;
      probe.notebook.find(operation.name, credential.name, `counts ${said} ${name} where it owns ${owned}, ${how}`);
    }
  }
}

function wheres(slots: readonly ParameterSlot[]): string {
  return [...new Set(slots.map(({ where }) => where))].join(' and ');
}

export function summaryOf(answer: Answer): string {
  return `${answer.status} ${codeOf(answer)}`.trim();
}
