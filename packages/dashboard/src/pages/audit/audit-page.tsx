import { useQuery } from '@tanstack/react-query';
import { callRoute } from '../../api/call.ts';
import { plural } from '../../api/format.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { VirtualTable } from '../../ui/virtual-table.tsx';
import { auditCard, auditColumns } from './audit-columns.tsx';
import { AuditFilters } from './audit-filters.tsx';
import { filterOf, isFiltered, parseAuditSearch } from './audit-search.ts';
import { EntryDrawer } from './entry-drawer.tsx';
import { ExportMenu } from './export-menu.tsx';
import type { AuditEntries, AuditEntry } from './use-audit-entries.ts';
import { useAuditEntries } from './use-audit-entries.ts';
import { useVerification } from './use-verification.ts';
import { VerifyButton, VerifyPanel } from './verify-panel.tsx';

/** The log: search, read, verify and export. */
export function AuditPage() {
  const [search, change] = usePageSearch(parseAuditSearch);
  const log = useAuditEntries(filterOf(search));
  const entry = useEntry(search.seq, log.entries);
  const verification = useVerification();
  const { query, entries, hasNews, showNews } = log;
  return (
    <Page
      title="Audit"
      actions={
        <>
          <VerifyButton {...verification} />
          <ExportMenu filter={filterOf(search)} />
        </>
      }
    >
      <VerifyPanel work={verification.work} />
      <AuditFilters search={search} onChange={change} />
      <Card isFlush>
        <div className="flex min-h-11 items-center justify-between gap-3 border-b px-4 py-1.5">
          <p className="text-sm text-muted" role="status">
            {query.isPending ? 'Reading…' : shownWords(entries.length, query.hasNextPage)}
          </p>
          {hasNews ? (
            <Button size="small" icon="refresh" onClick={showNews}>
              Show newer entries
            </Button>
          ) : null}
        </div>
        <Entries
          log={log}
          isNarrowed={isFiltered(search)}
          activeSeq={search.seq}
          onOpen={(seq) => change({ seq: String(seq) }, { isStep: true })}
        />
      </Card>
      {entry === undefined ? null : <EntryDrawer entry={entry} onClose={() => change({ seq: undefined })} />}
    </Page>
  );
}

interface EntriesProps {
  readonly log: AuditEntries;
  readonly isNarrowed: boolean;
  readonly activeSeq: string | undefined;
  readonly onOpen: (seq: number) => void;
}

function Entries({ log: { query, entries }, isNarrowed, activeSeq, onOpen }: EntriesProps) {
  if (query.error !== null && entries.length === 0) {
    return (
      <div className="p-4">
        <ErrorNotice error={query.error} title="The log could not be read" onRetry={() => void query.refetch()} />
      </div>
    );
  }
  if (query.isPending) return <Skeleton lines={10} label="The log is being read" />;
  const readOn = () => {
    if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
  };
  if (entries.length === 0 && !query.hasNextPage) {
    return isNarrowed ? (
      <EmptyState icon="audit" title="No entry fits these filters">
        Widen or clear them. Entries stay in the log for as long as the gateway keeps them.
      </EmptyState>
    ) : (
      <EmptyState icon="audit" title="Nothing has been recorded yet" command="reeve logs --follow">
        Every decision and every change is recorded here. In a terminal, follow it with:
      </EmptyState>
    );
  }
  return (
    <>
      <VirtualTable
        label="Audit entries"
        columns={auditColumns}
        card={auditCard}
        rows={entries}
        rowKey={({ seq }) => String(seq)}
        activeKey={activeSeq}
        onOpen={({ seq }) => onOpen(seq)}
        onEnd={readOn}
        className="max-h-[max(20rem,calc(100dvh-16rem))]"
      />
      {query.isFetchingNextPage ? <p className="border-t px-4 py-2 text-sm text-muted">Reading on…</p> : null}
      {/* A page of a search may be empty although more follows. */}
      {!query.isFetchingNextPage && query.hasNextPage && entries.length < 20 ? (
        <div className="border-t px-4 py-2">
          <Button size="small" onClick={readOn}>
            Search older entries
          </Button>
        </div>
      ) : null}
    </>
  );
}

function shownWords(count: number, hasMore: boolean): string {
  return `${plural(count, 'entry', 'entries')} shown${hasMore ? '; more as you scroll' : ', which is all there is'}`;
}

/** The entry that a link names: from the list, or looked up if the list does not have it yet. */
function useEntry(seq: string | undefined, listed: readonly AuditEntry[]): AuditEntry | undefined {
  const found = listed.find((entry) => String(entry.seq) === seq);
  const { data } = useQuery({
    queryKey: ['audit-entry', seq],
    queryFn: async ({ signal }) => {
      const { items } = await callRoute('listLogs', { query: { seq: Number(seq) } }, { signal });
      return items[0] ?? null;
    },
    enabled: seq !== undefined && found === undefined && /^\d+$/.test(seq),
  });
  return found ?? data ?? undefined;
}
