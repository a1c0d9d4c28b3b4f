import type { BroughtMoment, Decisions, JudgedResult, ResultToJudge } from '@reeve/core';
import { TenantSlots, tenantOf } from '../../evaluation/tenant-slots.ts';
import { EvaluationThreads } from './evaluation-threads.ts';
import { ResultRoom } from './result-room.ts';

export interface ResultJudgeOptions {
  readonly deadlineMs: number;
  readonly onEnded: (why: string) => void;
}

/** How many results of a tenant are judged at a time, and how many more wait. */
const [slots, waiting] = [2, 256];
/** One is left for other tenants. */
const threads = slots + 1;

/**
 * Judges large results apart from decisions. It has threads of its own: an agent waits for the answer, and nothing that
 * people evaluate makes it wait longer.
 */
export class ThreadResultJudge {
  readonly #threads: EvaluationThreads;
  readonly #slots: TenantSlots;
  readonly #room = new ResultRoom();

  constructor(gov: Decisions, { deadlineMs, onEnded }: ResultJudgeOptions) {
    this.#threads = new EvaluationThreads(gov, { threads, deadlineMs, idleMs: 60_000, onEnded });
    this.#slots = new TenantSlots({ slots, waitMs: 2 * deadlineMs, waiting, what: 'large results', retryAfterSecs: 1 });
  }

  async judge(result: ResultToJudge, moment: BroughtMoment): Promise<JudgedResult> {
    const orgId = result.parties[0]?.record.id.orgId ?? '';
    const input = () => ({ result, moment });
    const job = { tenant: orgId, orgs: [orgId], kind: 'judgeResult', input, hasDeadline: true } as const;
    const tenant = tenantOf({ orgId });
    const judged = () => this.#slots.run(tenant, () => this.#threads.run(job));
    return (await this.#room.during(tenant, result.bytes.length, judged)) as JudgedResult;
  }

  close(): Promise<void> {
    return this.#threads.close();
  }
}
