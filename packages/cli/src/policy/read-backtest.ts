import { linesOf } from '../audit/lines-of.ts';
import { CliError } from '../cli-error.ts';
import { isObject } from '../is-object.ts';
import type { backtestLine } from '@reeve/contract/http';

type Line = ReturnType<(typeof backtestLine)['parse']>;
type Result = Extract<Line, { type: 'result' }>;
export type ChangedDecision = Extract<Line, { type: 'change' }>['change'];
export type Progress = Omit<Extract<Line, { type: 'progress' }>, 'type'>;

/** The result of a backtest, with the decisions that would change. */
export type Backtest = Omit<Result, 'type'> & { readonly changes: readonly ChangedDecision[] };

/** Reads the lines of a backtest answer. An answer without a result is invalid. */
export async function readBacktest(
  chunks: AsyncIterable<Buffer>,
  onProgress: (progress: Progress) => void,
): Promise<Backtest> {
  const changes: ChangedDecision[] = [];
  let result: Backtest | undefined;
  for await (const text of linesOf(chunks)) {
    const line = text.trim() === '' ? undefined : lineOf(text);
    switch (line?.type) {
      case 'progress':
        onProgress(line);
        break;
      case 'change':
        changes.push(line.change);
        break;
      case 'result': {
        const { type: _, ...found } = line;
        result = { ...found, changes };
        break;
      }
      case 'error':
        throw new CliError(`the backtest failed: ${line.detail}`);
      case undefined:
        break;
    }
  }
  if (result === undefined) throw new CliError('the gateway broke the backtest off before its result. Try again');
  return result;
}

function lineOf(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && typeof value['type'] === 'string' ? (value as unknown as Line) : undefined;
  } catch {
    return undefined;
  }
}
