import { useEffect, useRef, useState } from 'react';
import { formatCount, plural } from '../../api/format.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { BacktestTables } from './backtest-tables.tsx';
import type { Backtest, BacktestProgress } from './read-backtest.ts';
import { readBacktest } from './read-backtest.ts';

type Work =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly progress: BacktestProgress }
  | { readonly state: 'done'; readonly backtest: Backtest }
  | { readonly state: 'failed'; readonly error: unknown };

const spans = [
  { value: '1', label: 'The last day' },
  { value: '7', label: 'The last 7 days' },
  { value: '30', label: 'The last 30 days' },
  { value: '90', label: 'The last 90 days' },
] as const;

type Span = (typeof spans)[number]['value'];

/** Judges past decisions again by the text in the editor, and shows what would have changed. */
export function BacktestPanel({ candidate }: { readonly candidate: string }) {
  const [days, setDays] = useState<Span>('7');
  const [work, setWork] = useState<Work>({ state: 'idle' });
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const start = async () => {
    const abort = new AbortController();
    running.current = abort;
    setWork({ state: 'running', progress: { examined: 0, total: null, changed: 0, share: 0 } });
    try {
      const body = { candidate, merge: true, days: Number(days), changes: 200 };
      const backtest = await readBacktest(body, abort.signal, (progress) => {
        if (!abort.signal.aborted) setWork({ state: 'running', progress });
      });
      setWork({ state: 'done', backtest });
    } catch (error) {
      setWork(abort.signal.aborted ? { state: 'idle' } : { state: 'failed', error });
    }
  };
  return (
    <div className="space-y-4">
      <Card title="Backtest">
        <div className="flex flex-wrap items-end gap-3">
          <Field label="Recorded decisions of" className="w-48">
            <Select value={days} choices={spans} onChange={setDays} />
          </Field>
          {work.state === 'running' ? (
            <>
              <Button onClick={() => running.current?.abort()}>Stop</Button>
              <Progress {...work.progress} />
            </>
          ) : (
            <Button look="primary" onClick={() => void start()}>
              Run the backtest
            </Button>
          )}
        </div>
        <p className="mt-3 text-sm text-muted">
          Each decision is judged again by the policies in force with the text in the editor in place of this document.
          Nothing is recorded or changed.
        </p>
      </Card>
      {work.state === 'failed' ? <ErrorNotice error={work.error} title="The backtest failed" /> : null}
      {work.state === 'done' ? <Found backtest={work.backtest} /> : null}
    </div>
  );
}

function Progress({ examined, changed, share }: BacktestProgress) {
  return (
    <div className="flex min-w-48 flex-1 items-center gap-3">
      <progress value={share} max={1} aria-label="How far the backtest is" className="h-2 flex-1 accent-accent" />
      <p role="status" className="text-sm text-muted">
        {plural(examined, 'decision')}, {formatCount(changed)} would change
      </p>
    </div>
  );
}

function Found({ backtest }: { readonly backtest: Backtest }) {
  const { examined, changed, skipped } = backtest.result;
  const skips = skipped === 0 ? '' : ` ${plural(skipped, 'decision')} could not be judged again.`;
  if (changed === 0) {
    return (
      <Card>
        <EmptyState icon="check" title="Nothing would change">
          {plural(examined, 'decision')} judged again.{skips}
        </EmptyState>
      </Card>
    );
  }
  return (
    <>
      <p role="status" className="font-medium">
        {formatCount(changed)} of {plural(examined, 'decision')} would change.{skips}
      </p>
      <BacktestTables backtest={backtest} />
    </>
  );
}
