import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { callRoute } from '../../api/call.ts';
import { plural } from '../../api/format.ts';
import type { Answer } from '../../api/send.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Money } from '../../ui/money.tsx';
import { Time } from '../../ui/time.tsx';
import type { Owner, Span } from './budget-model.ts';
import { spanNames } from './budget-model.ts';
import { ownerQuery } from './load-budgets.ts';
import type { RunCost } from './run-costs.ts';
import { runCosts } from './run-costs.ts';

const perPage = 1000;
const mostPages = 5;
const shown = 5;

interface DearestRunsProps {
  readonly owner: Owner;
  readonly span: Span;
  /** When the span began, in milliseconds. */
  readonly since: number;
}

/** The runs behind what an agent has spent, from the audit log. */
export function DearestRuns({ owner, span, since }: DearestRunsProps) {
  const query = { ...ownerQuery(owner), from: new Date(since).toISOString() };
  const runs = useQuery({ queryKey: ['runCosts', query], queryFn: ({ signal }) => loadRuns(query, signal) });
  return (
    <section className="space-y-2">
      <h3 className="font-semibold">Dearest runs, {spanNames[span].toLowerCase()}</h3>
      <Loaded query={runs} what="The runs" lines={3}>
        {({ costs, readTo }) => (
          <>
            {costs.length === 0 ? (
              <p className="text-muted">Nothing was settled for a run that the agent named.</p>
            ) : (
              <ul className="divide-y rounded-md border">
                {costs.slice(0, shown).map((cost) => (
                  <Run key={cost.runId} cost={cost} owner={owner} />
                ))}
              </ul>
            )}
            {readTo === undefined ? null : (
              <p className="text-sm text-muted">
                Of the newest {plural(perPage * mostPages, 'entry', 'entries')} of the log, since{' '}
                <Time at={readTo} form="full" />.
              </p>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

const linkClasses = 'text-accent underline underline-offset-2';

function Run({ cost: { runId, micros, operations }, owner }: { readonly cost: RunCost; readonly owner: Owner }) {
  const { agent_id: agent } = owner;
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 px-3 py-1.5">
      <Link to="/ops" search={{ run_id: runId, state: 'all' }} className={`min-w-0 flex-1 break-all ${linkClasses}`}>
        {runId}
      </Link>
      <Link
        to="/audit"
        search={{ q: runId, ...(agent === null ? {} : { agent_id: agent }) }}
        className={`text-sm ${linkClasses}`}
      >
        {plural(operations, 'operation')} in the log
      </Link>
      <Money micros={micros} />
    </li>
  );
}

interface Runs {
  readonly costs: readonly RunCost[];
  /** How far back the log was read. Undefined if to the beginning. */
  readonly readTo: string | undefined;
}

async function loadRuns(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Runs> {
  const entries: Answer<'listLogs'>['items'] = [];
  let cursor: string | null = null;
  for (let page = 0; page < mostPages; page++) {
    const answer: Answer<'listLogs'> = await callRoute(
      'listLogs',
      { query: { ...query, per_page: perPage, ...(cursor === null ? {} : { cursor }) } },
      { signal },
    );
    entries.push(...answer.items);
    cursor = answer.next_cursor;
    if (cursor === null) break;
  }
  return { costs: runCosts(entries), readTo: cursor === null ? undefined : entries.at(-1)?.at };
}
