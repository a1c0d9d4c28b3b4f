import { createHash } from 'node:crypto';

/** A row of the audit log, as the database has it. */
export interface Row {
  readonly seq: number;
  readonly hash: string;
  readonly canonical: string;
}

/** What the checker reads of an entry. It trusts nothing else. */
export interface Entry {
  readonly seq: number;
  readonly event_type: string;
  readonly lineage: { readonly org_id: string | null; readonly team_id: string; readonly agent_id: string };
  readonly op_id: string | null;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly decision: string | null;
  readonly reason: string | null;
  readonly policy_rule: string | null;
  readonly policy_version: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly prev_hash: string;
}

type Query = (sql: string) => Promise<Record<string, unknown>[]>;

/** The log as of one moment: its rows, and its newest entry by the word of the database. */
export async function readLog(query: Query): Promise<{ rows: Row[]; head: { seq: number; hash: string } }> {
  const found = await query(
    'SELECT a.seq, a.hash, a.canonical, c.seq AS newest, c.hash AS newest_hash FROM audit a, chain c ORDER BY a.seq',
  );
  const last = found.at(-1);
  return {
    rows: found.map(({ seq, hash, canonical }) => ({
      seq: Number(seq),
      hash: String(hash),
      canonical: String(canonical),
    })),
    head: { seq: Number(last?.['newest']), hash: String(last?.['newest_hash']) },
  };
}

export function entriesOf(rows: readonly Row[]): Entry[] {
  return rows.map(({ canonical }) => JSON.parse(canonical) as Entry);
}

/** `org/team/agent` */
export function agentOf({ lineage }: Pick<Entry, 'lineage'>): string {
  return `${lineage.org_id ?? ''}/${lineage.team_id}/${lineage.agent_id}`;
}

/** Agent and operation. */
export function opOf(entry: Pick<Entry, 'lineage' | 'op_id'>): string {
  return `${agentOf(entry)} ${entry.op_id}`;
}

export function isReplay({ payload }: Pick<Entry, 'payload'>): boolean {
  return payload['replay'] === true;
}

/** Whether the entry is the one decision about an operation. */
export function isDecision(entry: Entry): boolean {
  return entry.decision !== null && entry.op_id !== null && !isReplay(entry);
}

/** JSON with sorted members and without spaces: what is hashed. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

export function hashOf(entry: unknown): string {
  return createHash('sha256').update(canonical(entry), 'utf8').digest('hex');
}

/** Every entry has the next number, names the hash of the one before, and has the hash of its own content. */
export function chainFaults(rows: readonly Row[], head: { readonly seq: number; readonly hash: string }): string[] {
  let before = { seq: 0, hash: '0'.repeat(64) };
  for (const row of rows) {
    const entry = JSON.parse(row.canonical) as Entry;
    const place = `entry ${row.seq}`;
    if (row.seq !== before.seq + 1 || entry.seq !== row.seq) return [`${place} comes after entry ${before.seq}`];
    if (entry.prev_hash !== before.hash) return [`${place} does not continue the entry before it`];
    if (hashOf(entry) !== row.hash) return [`${place} has another content than its hash`];
    before = row;
  }
  if (before.seq === head.seq && before.hash === head.hash) return [];
  return [`the log ends with entry ${before.seq}, and its head is entry ${head.seq}`];
}
