import type { AuditReader } from '../audit/index.ts';
import type { Decisions, RecordedDecision } from '../decision/index.ts';
import { recordedDecision } from '../decision/index.ts';
import type { OpState } from '../ops/index.ts';
import type { Run } from '../runs/index.ts';
import { keyOfPlace } from '../runs/index.ts';

/** An operation of a run: what was decided, by the log, and how it is now. Null once it is no longer known. */
export interface RunOperation {
  readonly decided: RecordedDecision;
  readonly state: OpState | null;
}

export interface RunOperationPage {
  readonly operations: readonly RunOperation[];
  /** The entry after which the next page starts; null if there is none. */
  readonly next: number | null;
}

/**
 * The operations of a run that the caller may see, in the order in which they were decided, ended ones too. An earlier run of
 * the same id was forgotten, and what happened in it is left out.
 */
export async function listRunOperations(
  { directory, ops }: Pick<Decisions, 'directory' | 'ops'>,
  log: AuditReader,
  { place, startedAt }: Run,
  page: { readonly after?: number | undefined; readonly limit: number },
): Promise<RunOperationPage> {
  const { after = 0, limit } = page;
  const { entries, next } = await log.oldest({ run: keyOfPlace(place), from: startedAt, after, limit });
  const operations = entries.flatMap((entry): RunOperation[] => {
    const decided = recordedDecision(entry);
    if (decided === undefined) return [];
    const agent = directory.find(decided.agent);
    const op = agent === undefined ? undefined : ops.find(agent, decided.opId);
    return [{ decided, state: op?.state ?? null }];
  });
  return { operations, next };
}
