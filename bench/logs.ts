import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditQuery } from '@reeve/core';
import { emptyChain } from '@reeve/core';
import { AuditReaderThread } from '../packages/gateway/src/adapters/sql/audit-reader-thread.ts';
import { SqliteStore } from '../packages/gateway/src/adapters/sql/sqlite-store.ts';
import { agentsPerOrg, orgs, sealedEntries } from './sealed-entries.ts';
import { count, duration, textTable } from './table.ts';

const bytesPerEntry = 1500;
const entriesPerCommit = 1000;
const asksPerQuestion = 200;

export interface LogRow {
  readonly question: string;
  readonly entries: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
}

/** How long a page of the audit log takes, for a log with few entries and one with many. */
export async function measureLogs(entries: number, tell: (line: string) => void): Promise<LogRow[]> {
  const small = Math.min(100_000, entries);
  return [...(await pagesOf(small, tell)), ...(entries > small ? await pagesOf(entries, tell) : [])];
}

export function logsTable(rows: readonly LogRow[]): string {
  const cells = rows.map((row) => [row.question, count(row.entries), duration(row.p50Micros), duration(row.p99Micros)]);
  return textTable(['question', 'entries in the log', 'p50', 'p99'], cells);
}

async function pagesOf(entries: number, tell: (line: string) => void): Promise<LogRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reeve-bench-logs-'));
  try {
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < 2 * entries * bytesPerEntry) throw new Error(`${entries} entries need more disk than is free`);
    const path = join(folder, 'reeve.db');
    const store = new SqliteStore({ path, sync: 'process' });
    tell(`writing ${entries.toLocaleString('en-US')} entries`);
    fill(store, entries);
    const reader = new AuditReaderThread(path, join(folder, 'audit-index.db'), { everyMs: 1, packsInto: store });
    tell('waiting for the indexes');
    while ((await reader.lag()) > 0) await sleep(50);
    const rows: LogRow[] = [];
    for (const [question, query] of questions(entries)) rows.push(await ask(reader, question, query, entries));
    await reader.close();
    await store.close();
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function questions(entries: number): [string, (n: number) => AuditQuery][] {
  const org = (n: number) => `org-${(n * 37) % orgs}`;
  return [
    ['the latest 50 of one org', (n) => ({ orgId: org(n), limit: 50 })],
    ['50 of one org from the middle', (n) => ({ orgId: org(n), before: Math.floor(entries / 2), limit: 50 })],
    [
      'the latest 50 of one agent',
      (n) => ({ orgId: org(n), agentId: `agent-${(n * 37) % orgs}-${n % agentsPerOrg}`, limit: 50 }),
    ],
    ['one operation', (n) => ({ opId: `trace-${(n * 7919) % entries}:span`, limit: 50 })],
    ['the latest 50 registrations', () => ({ eventType: 'AgentRegistered', limit: 50 })],
    ['the latest 50 of all', () => ({ limit: 50 })],
  ];
}

async function ask(
  reader: AuditReaderThread,
  question: string,
  query: (n: number) => AuditQuery,
  entries: number,
): Promise<LogRow> {
  const micros: number[] = [];
  for (let n = 0; n < asksPerQuestion; n++) {
    const started = performance.now();
    await reader.latest(query(n));
    micros.push((performance.now() - started) * 1000);
  }
  micros.sort((a, b) => a - b);
  const at = (share: number) => micros[Math.min(micros.length - 1, Math.floor(micros.length * share))] ?? Number.NaN;
  return { question, entries, p50Micros: at(0.5), p99Micros: at(0.99) };
}

/** Writes a chain of entries as the gateway does. */
function fill(store: SqliteStore, entries: number): void {
  let head = emptyChain;
  for (let from = 0; from < entries; from += entriesPerCommit) {
    const batch = sealedEntries(Math.min(entriesPerCommit, entries - from), from, head);
    head = batch.at(-1) ?? head;
    store.commitNow({ entries: batch, changes: [] });
  }
}
