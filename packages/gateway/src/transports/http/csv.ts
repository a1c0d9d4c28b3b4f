import type { StoredEntry } from '@reeve/core';

const columns = [
  'seq',
  'at',
  'event_type',
  'org_id',
  'team_id',
  'agent_id',
  'actor_kind',
  'actor_id',
  'op_id',
  'decision',
  'reason',
  'policy_rule',
  'policy_version',
  'payload',
  'prev_hash',
  'hash',
] as const;

export const csvHeader = `${columns.join(',')}\n`;

interface Entry {
  readonly lineage: Readonly<Record<string, unknown>>;
  readonly actor: { readonly kind: string; readonly id: string };
  readonly payload: unknown;
  readonly [member: string]: unknown;
}

/** An entry as a line of RFC 4180. */
export function csvLine(stored: StoredEntry): string {
  const entry = JSON.parse(stored.canonical) as Entry;
  const flat: Readonly<Record<string, unknown>> = {
    ...entry,
    ...entry.lineage,
    actor_kind: entry.actor.kind,
    actor_id: entry.actor.id,
    payload: JSON.stringify(entry.payload),
    hash: stored.hash,
  };
  return columns.map((column) => cell(flat[column])).join(',');
}

function cell(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return '';
  const text = typeof value === 'number' ? String(value) : inert(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Keeps a spreadsheet from reading what an agent wrote as a formula. */
function inert(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}
