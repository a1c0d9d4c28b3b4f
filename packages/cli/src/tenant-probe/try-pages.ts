import type { Answer } from './caller.ts';
import { isObject } from '../is-object.ts';
import { succeeded, valueOf } from './caller.ts';
import type { Credential } from './credentials.ts';
import { suffices } from './credentials.ts';
import type { Operation } from './operations.ts';
import { slotsOf } from './parameter-slots.ts';
import type { Probe } from './probe.ts';
import { ask, lookThrough } from './probe.ts';

const mostPages = 1000;

/** Reads a list page by page to its end. No page may show others, and the total must be what the caller owns. */
export async function tryPages(probe: Probe, operation: Operation, credential: Credential): Promise<void> {
  if (!isPaged(operation) || !suffices(credential, operation.access)) return;
  const org = slotsOf(operation).find(({ where, kind }) => where === 'query' && kind === 'org');
  await readPages(probe, operation, credential, {});
  if (org !== undefined) await readPages(probe, operation, credential, { [org.name]: credential.orgId });
  await tryOthersCursor(probe, operation, credential);
}

/** A single record may contain a list. That list is not the answer. */
function isPaged({ path, query }: Operation): boolean {
  if (path.endsWith('}')) return false;
  return ['per_page', 'cursor'].every((name) => query.some((parameter) => parameter.name === name));
}

async function readPages(
  probe: Probe,
  operation: Operation,
  credential: Credential,
  filter: Readonly<Record<string, string>>,
): Promise<void> {
  const fail = (what: string) => probe.notebook.find(operation.name, credential.name, what);
  const totals = new Set<unknown>();
  let items = 0;
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const query = { ...filter, per_page: '3', ...(cursor === undefined ? {} : { cursor }) };
    const answer = await ask(probe, operation, credential, { at: new Map(), query });
    lookThrough(probe, operation, credential, `on page ${page}`, answer);
    const list = listIn(answer);
    if (list === undefined) return fail(`page ${page} is not a list: ${answer.status}`);
    items += list.items.length;
    totals.add(list.total);
    cursor = list.next;
    if (cursor === undefined) break;
    if (page === mostPages) return fail(`does not end after ${mostPages} pages`);
  }
  const owned = ownedOf(probe, operation, credential) ?? items;
  const expected = [...totals].every((total) => total === undefined) ? undefined : owned;
  if (items !== owned) fail(`lists ${items} where it owns ${owned}`);
  if (totals.size !== 1 || !totals.has(expected))
    fail(`has the total ${[...totals].join(', ')} where it owns ${owned}`);
}

/** The caller may send a cursor from another tenant's list. It must see its own records from there, or nothing. */
async function tryOthersCursor(probe: Probe, operation: Operation, credential: Credential): Promise<void> {
  const { b } = probe.canaries;
  const observer = { bearer: b.keys.org.admin.key, own: credential.own };
  const theirs = await ask(probe, operation, observer, { at: new Map(), query: { per_page: '1' } });
  const cursor = listIn(theirs)?.next;
  if (cursor === undefined) return;
  const answer = await ask(probe, operation, credential, { at: new Map(), query: { cursor } });
  lookThrough(probe, operation, credential, 'asked with a cursor of another tenant', answer);
}

function listIn(answer: Answer): { items: readonly unknown[]; next: string | undefined; total: unknown } | undefined {
  const body = succeeded(answer) ? valueOf(answer) : undefined;
  if (!isObject(body) || !Array.isArray(body['items'])) return undefined;
  const { items, next_cursor: next, total } = body;
  return { items, next: typeof next === 'string' ? next : undefined, total };
}

/** The expected total of a list, if the probe has made all its records itself. */
function ownedOf({ made }: Probe, { path }: Operation, { owned, orgId, teamId }: Credential): number | undefined {
  switch (path.slice(path.lastIndexOf('/') + 1)) {
    case 'agents':
      return owned.agents;
    case 'api-keys':
      return made.keys.filter((key) => key.orgId === orgId && key.teamId === teamId).length;
    default:
      return undefined;
  }
}
