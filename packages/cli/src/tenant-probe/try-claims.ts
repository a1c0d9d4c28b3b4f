import { impersonation } from './allowed-mentions.ts';
import { impersonators } from './canaries.ts';
import type { Answer } from './caller.ts';
import { isObject } from '../is-object.ts';
import { succeeded, valueOf } from './caller.ts';
import type { Credential } from './credentials.ts';
import { suffices } from './credentials.ts';
import type { Operation } from './operations.ts';
import type { Probe } from './probe.ts';
import { ask, lookThrough } from './probe.ts';

/**
 * The one thing of another tenant that may be seen. The record of an impersonation belongs to the org of the
 * impersonator. An admin of the impersonated agent's org finds it by filtering for that event type without an org.
 * Nobody else does, and the admin sees nothing else.
 */
export async function tryClaims(probe: Probe, operation: Operation, credential: Credential): Promise<void> {
  const isLog = operation.query.some(({ name }) => name === 'event_type');
  if (!isLog || !suffices(credential, operation.access)) return;
  const formats = operation.query.find(({ name }) => name === 'format')?.schema.enum?.map(String) ?? [undefined];
  for (const format of formats) {
    const query = { event_type: impersonation, ...(format === undefined ? {} : { format }) };
    const how = `asked for ${new URLSearchParams(query).toString()}`;
    const answer = await ask(probe, operation, credential, { at: new Map(), query });
    const isAdmin = credential.level === 'admin' && credential.teamId === null;
    const { seen, rest } = isAdmin ? split(answer, probe) : { seen: 0, rest: answer };
    lookThrough(probe, operation, credential, how, rest);
    if (isAdmin && seen !== impersonators.length) {
      const what = `shows ${seen} impersonations of its agents by another org instead of ${impersonators.length}, ${how}`;
      probe.notebook.find(operation.name, credential.name, what);
    }
    const own = await ask(probe, operation, credential, {
      at: new Map(),
      query: { ...query, org_id: credential.orgId },
    });
    lookThrough(probe, operation, credential, `${how} in its own org`, own);
  }
}

/** Removes the impersonations of the tenant's agents by the other canary, and counts them. */
function split(answer: Answer, { canaries: { a, b } }: Probe): { seen: number; rest: Answer } {
  const value = succeeded(answer) ? valueOf(answer) : undefined;
  const entries = isObject(value) ? value['items'] : value;
  if (!Array.isArray(entries)) return { seen: 0, rest: answer };
  const isClaim = (entry: unknown) => {
    if (!isObject(entry) || entry['event_type'] !== impersonation) return false;
    const lineage = isObject(entry['lineage']) ? entry['lineage'] : entry;
    const payload: unknown = isObject(entry['payload']) ? entry['payload'] : JSON.parse(String(entry['payload']));
    return lineage['org_id'] === b.orgId && isObject(payload) && payload['claimed_org_id'] === a.orgId;
  };
  const others = entries.filter((entry) => !isClaim(entry));
  const rest = isObject(value) ? { ...value, items: others } : others;
  return {
    seen: entries.length - others.length,
    rest: { ...answer, type: 'application/json', text: JSON.stringify(rest) },
  };
}
