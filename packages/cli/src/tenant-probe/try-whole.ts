import type { Answer } from './caller.ts';
import { isObject } from '../is-object.ts';
import { codeOf, succeeded, valueOf } from './caller.ts';
import type { Credential } from './credentials.ts';
import { suffices } from './credentials.ts';
import type { Operation } from './operations.ts';
import { membersOf } from './parameter-slots.ts';
import type { Probe } from './probe.ts';
import { ask, lookThrough } from './probe.ts';

/**
 * Asks for a dry run of a control of everything. For a tenant, everything is its own: as many operations as its list
 * has in flight. The control is never carried out, because with a leak it would stop other tenants.
 */
export async function tryWhole(probe: Probe, operation: Operation, credential: Credential): Promise<void> {
  const names = membersOf(operation.body);
  const isControl = names.includes('all') && names.includes('dry_run');
  if (!isControl || !suffices(credential, 'admin')) return;
  const how = 'asked what all would be';
  const members = { scope: { all: true }, dry_run: true };
  const answer = await ask(probe, operation, credential, { at: new Map(), members });
  lookThrough(probe, operation, credential, how, answer);
  const result = succeeded(answer) ? valueOf(answer) : undefined;
  const matched = isObject(result) ? result['matched'] : undefined;
  const owned = await inFlight(probe, credential);
  if (matched === owned) return;
  const what = `finds ${String(matched)} operations where ${owned} are its own, ${how}: ${answer.status} ${codeOf(answer)}`;
  probe.notebook.find(operation.name, credential.name, what);
}

async function inFlight({ caller }: Probe, { bearer }: Credential): Promise<number> {
  let count = 0;
  for (const state of ['pending', 'running', 'paused'] as const) {
    count += totalIn(await caller.callRoute('listOps', bearer, { query: { per_page: 1, state } }));
  }
  return count;
}

function totalIn(answer: Answer): number {
  const list = valueOf(answer);
  return isObject(list) && typeof list['total'] === 'number' ? list['total'] : Number.NaN;
}
