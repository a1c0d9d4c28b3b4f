import { parentPort, workerData } from 'node:worker_threads';
import type { AuditQuery, PeopleQuery } from '@reeve/core';
import { giveWay } from '../system/give-way.ts';
import { AuditIndex, isDamage } from './audit-index.ts';

/** Reads the log and keeps its indexes in a separate thread, so that no query, however large, delays a decision. */
export type ReaderCall =
  | { readonly id: number; readonly method: 'read'; readonly query: AuditQuery; readonly newestFirst: boolean }
  | { readonly id: number; readonly method: 'people'; readonly query: PeopleQuery }
  | { readonly id: number; readonly method: 'lag' }
  | { readonly id: number; readonly method: 'rest' | 'wake' }
  | { readonly id: number; readonly method: 'close' };

export interface ReaderAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

giveWay('little');
const { storePath, indexPath, everyMs } = workerData as { storePath: string; indexPath: string; everyMs: number };
const entriesPerStep = 25_000;
let index = AuditIndex.open(storePath, indexPath);
/** Whether even the indexes have to wait. */
let isResting = false;

/** Rebuilds damaged indexes from the log, unnoticed by callers. */
function withIndex<Result>(work: (index: AuditIndex) => Result): Result {
  try {
    return work(index);
  } catch (error) {
    if (!isDamage(error)) throw error;
    index.close();
    index = AuditIndex.remake(storePath, indexPath);
    return work(index);
  }
}

const timer = setInterval(() => {
  if (isResting) return;
  try {
    withIndex((open) => open.catchUp(entriesPerStep));
  } catch {
    // Unindexed entries are read one by one; the next turn tries again.
  }
}, everyMs);

function perform(call: ReaderCall): unknown {
  switch (call.method) {
    case 'read':
      return withIndex((open) => open.read(call.query, call.newestFirst));
    case 'people':
      return withIndex((open) => open.people(call.query));
    case 'lag':
      return withIndex((open) => open.lag());
    case 'rest':
    case 'wake':
      isResting = call.method === 'rest';
      return undefined;
    case 'close':
      clearInterval(timer);
      index.close();
      return undefined;
  }
}

parentPort?.on('message', (call: ReaderCall) => {
  let answer: ReaderAnswer;
  try {
    answer = { id: call.id, result: perform(call) };
  } catch (error) {
    answer = { id: call.id, error: error instanceof Error ? error.message : 'unknown' };
  }
  parentPort?.postMessage(answer);
  if (call.method === 'close') parentPort?.close();
});
