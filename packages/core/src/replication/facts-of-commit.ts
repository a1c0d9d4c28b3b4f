import type { Touched, Unread } from '../journal/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { unquoted } from '../kernel/index.ts';
import type { Commit } from '../store.ts';

/** What of a commit is written: its facts, and whom they concern. */
export type WrittenFacts = Pick<Commit, 'steps' | 'touched'>;

/** What can be read of it, and what cannot. */
export type ReadFacts = Pick<Commit, 'steps' | 'touched' | 'unread'>;

export type AnyStep = Commit['steps'][number];

/** Reads the facts one by one, so that nothing keeps the others from being read. */
export function readSteps(written: readonly unknown[], touched: Touched, read: (step: unknown) => AnyStep): ReadFacts {
  const steps: AnyStep[] = [];
  const unread: Unread[] = [];
  for (const [at, step] of written.entries()) {
    try {
      steps.push(read(step));
    } catch (error) {
      unread.push({ touched, why: `step ${at + 1} of ${written.length}: ${unquoted(error)}` });
    }
  }
  return { steps, touched, unread };
}

export function agentIdOf(key: string): AgentId {
  const [orgId = '', teamId = '', agentId = ''] = key.split('/');
  return { orgId, teamId, agentId };
}

export function textsIn(written: unknown): readonly string[] {
  if (!Array.isArray(written) || !written.every((name) => typeof name === 'string')) {
    throw new Error('it does not say whom it touches');
  }
  return written;
}
