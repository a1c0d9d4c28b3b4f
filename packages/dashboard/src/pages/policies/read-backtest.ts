import type { BacktestLine } from '@reeve/contract/http';
import { openRoute } from '../../api/call.ts';
import type { RequestOf } from '../../api/send.ts';
import { linesOf } from '../../api/lines-of.ts';

export type BacktestResult = Extract<BacktestLine, { readonly type: 'result' }>;
export type BacktestChange = Extract<BacktestLine, { readonly type: 'change' }>['change'];

export interface BacktestProgress {
  readonly examined: number;
  readonly total: number | null;
  readonly changed: number;
  /** From 0 to 1. */
  readonly share: number;
}

export interface Backtest {
  readonly result: BacktestResult;
  readonly changes: readonly BacktestChange[];
}

/** Runs a backtest to its result, and reports progress. */
export async function readBacktest(
  body: NonNullable<RequestOf<'backtestPolicy'>['body']>,
  signal: AbortSignal,
  onProgress: (progress: BacktestProgress) => void,
): Promise<Backtest> {
  const response = await openRoute('backtestPolicy', { body }, { accept: '*/*', signal });
  const changes: BacktestChange[] = [];
  for await (const line of linesOf(response)) {
    if (line === '') continue;
    const said = JSON.parse(line) as BacktestLine;
    if (said.type === 'progress') onProgress(said);
    else if (said.type === 'change') changes.push(said.change);
    else if (said.type === 'error') throw new Error(said.detail);
    else return { result: said, changes };
  }
  throw new Error('The gateway broke the answer off before its result.');
}
