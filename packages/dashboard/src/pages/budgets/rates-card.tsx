import type { Answer } from '../../api/send.ts';
import { useRoute } from '../../api/use-route.ts';
import { AgentPath } from '../../ui/agent-path.tsx';
import { Card } from '../../ui/card.tsx';
import type { Column } from '../../ui/column.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Countdown } from '../../ui/time.tsx';
import { budgetName } from './budget-model.ts';
import { countedWords, nearestFirst, windowWords } from './rate-model.ts';

type Rate = Answer<'listRates'>['items'][number];

/** Counts change with every check, without events. */
const refreshMs = 5000;
const mostShown = 200;

/** How much of each rate is used up, the fullest first. Nothing where no policy has rates. */
export function RatesCard({ orgId }: { readonly orgId: string | undefined }) {
  const query = { per_page: mostShown, ...(orgId === undefined ? {} : { org_id: orgId }) };
  const { data } = useRoute('listRates', { query }, { refetchInterval: refreshMs, keepPrevious: true });
  if (data === undefined || data.items.length === 0) return null;
  return (
    <Card title="Rates" isFlush>
      <DataTable
        caption="Rates"
        columns={columns}
        rows={nearestFirst(data.items)}
        rowKey={({ rate, tier, org_id, team_id, agent_id }) => [rate, tier, org_id, team_id, agent_id].join(' ')}
      />
      {data.total > data.items.length ? (
        <p className="border-t px-4 py-2 text-sm text-muted">
          These are {data.items.length} of {data.total}. <code>reeve budgets rates --all</code> shows all of them.
        </p>
      ) : null}
    </Card>
  );
}

const columns: readonly Column<Rate>[] = [
  { id: 'rate', header: 'Rate', cell: ({ rate }) => <code className="break-all">{rate}</code> },
  { id: 'whose', header: 'Whose', cell: (rate) => <AgentPath path={budgetName(rate)} /> },
  { id: 'counts', header: 'Counts', cell: countedWords },
  { id: 'window', header: 'Window', cell: ({ window_secs: secs }) => windowWords(secs) },
  { id: 'used', header: 'Used', align: 'right', cell: ({ count, max }) => `${count} of ${max}` },
  {
    id: 'room',
    header: 'Room',
    cell: ({ room_at: at }) => (at === null ? 'now' : <Countdown to={at} over="now" />),
  },
];
