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
  | { readonly id: number; readonly method: 'lag' | 'unpacked' }
  | { readonly id: number; readonly method: 'rest' | 'wake' }
  | { readonly id: number; readonly method: 'packed'; readonly isDone: boolean }
  | { readonly id: number; readonly method: 'close' };

export interface ReaderAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/**
 * An answer, a block that the store is asked to put in the place of its rows, or why the log cannot be indexed and packed:
 * null once nothing is left to do.
 */
export type FromReader = ReaderAnswer | { readonly block: PackedBlock } | { readonly trouble: string | null };

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

/** Whether the store itself is damaged, so that other indexes would help nobody. */
let isStoreDamaged = false;

/** Rebuilds damaged indexes from the log, unnoticed by callers. */
function withIndex<Result>(work: (index: AuditIndex) => Result): Result {
  try {
    return work(index);
  } catch (error) {
    isStoreDamaged ||= isDamage(error) && index.isWhole();
    if (!isDamage(error) || isStoreDamaged) throw error;
    index.close();
    index = AuditIndex.remake(storePath, indexPath);
    return work(index);
  }
}

/** Whether the store has not yet said what became of a block. */
let isPacking = false;
let hasTrouble = false;

/** Hands out one block at a time, so that nothing gathers before the thread that decides. */
function packNext(): void {
  if (packing === undefined || isResting || isPacking) return;
  const block = withIndex((open) => open.packOldest(packing));
  if (block !== undefined) {
    isPacking = true;
    parentPort?.postMessage({ block } satisfies FromReader);
  } else if (hasTrouble) tell(null);
}

function tell(trouble: string | null): void {
  hasTrouble = trouble !== null;
  parentPort?.postMessage({ trouble } satisfies FromReader);
}

/** Unindexed entries are read one by one, and unpacked ones are rows; the next turn of the timer tries again. */
function orTell(work: () => void): void {
  try {
    work();
  } catch (error) {
    tell(messageOf(error));
  }
}

const timer = setInterval(() => {
  if (isResting) return;
  orTell(() => {
    withIndex((open) => open.catchUp(entriesPerStep));
    packNext();
  });
}, everyMs);

/** Goes on while the store takes blocks. If it does not, it has a reason, and the timer tries again. */
function packed(isDone: boolean): void {
  isPacking = false;
  if (isDone) orTell(packNext);
  else hasTrouble = true;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
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
    case 'unpacked':
      return packing === undefined ? 0 : withIndex((open) => open.unpacked(packing));
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
    answer = { id: call.id, error: messageOf(error) };
  }
  if (call.method !== 'packed') parentPort?.postMessage(answer);
  if (call.method === 'close') parentPort?.close();
});
