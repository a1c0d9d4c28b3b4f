import { parentPort, workerData } from 'node:worker_threads';
import type { AuditQuery, PeopleQuery, UserRunsQuery } from '@reeve/core';
import { giveWay } from '../system/give-way.ts';
import { AuditIndex } from './audit-index.ts';
import type { PackedBlock } from './log-block.ts';
import { isDamage } from './open-sqlite.ts';
import type { Packing } from './pack-oldest.ts';

/** Reads the log and keeps its indexes in a separate thread, so that no query, however large, delays a decision. */
export type ReaderCall =
  | { readonly id: number; readonly method: 'read'; readonly query: AuditQuery; readonly newestFirst: boolean }
  | { readonly id: number; readonly method: 'people'; readonly query: PeopleQuery }
  | { readonly id: number; readonly method: 'runsOfUser'; readonly query: UserRunsQuery }
  | { readonly id: number; readonly method: 'lag' }
  | { readonly id: number; readonly method: 'rest' | 'wake' }
  | { readonly id: number; readonly method: 'packed'; readonly isDone: boolean }
  | { readonly id: number; readonly method: 'close' };

export interface ReaderAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** An answer, or a block that the store is asked to put in the place of its rows. */
export type FromReader = ReaderAnswer | { readonly block: PackedBlock };

export interface ReaderData {
  readonly storePath: string;
  readonly indexPath: string;
  readonly everyMs: number;
  readonly packing: Packing | undefined;
}

giveWay('little');
const { storePath, indexPath, everyMs, packing } = workerData as ReaderData;
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

/** Whether the store has not yet said what became of a block. */
let isPacking = false;

/** Hands out one block at a time, so that nothing gathers before the thread that decides. */
function packNext(): void {
  if (packing === undefined || isResting || isPacking) return;
  const block = withIndex((open) => open.packOldest(packing));
  if (block === undefined) return;
  isPacking = true;
  parentPort?.postMessage({ block } satisfies FromReader);
}

const timer = setInterval(() => {
  if (isResting) return;
  try {
    withIndex((open) => open.catchUp(entriesPerStep));
    packNext();
  } catch {
    // Unindexed entries are read one by one, and unpacked ones are rows; the next turn tries again.
  }
}, everyMs);

/** Goes on while the store takes blocks. If it does not, it has a reason, and the timer tries again. */
function packed(isDone: boolean): void {
  isPacking = false;
  if (isDone) packNext();
}

function perform(call: ReaderCall): unknown {
  switch (call.method) {
    case 'read':
      return withIndex((open) => open.read(call.query, call.newestFirst));
    case 'people':
      return withIndex((open) => open.people(call.query));
    case 'runsOfUser':
      return withIndex((open) => open.runsOfUser(call.query));
    case 'lag':
      return withIndex((open) => open.lag());
    case 'rest':
    case 'wake':
      isResting = call.method === 'rest';
      return undefined;
    case 'packed':
      packed(call.isDone);
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
  if (call.method !== 'packed') parentPort?.postMessage(answer);
  if (call.method === 'close') parentPort?.close();
});
