import { keyOfPerson } from '@reeve/contract/people';
import { plural } from '../../api/format.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';
import { VirtualTable } from '../../ui/virtual-table.tsx';
import { NoPeople } from './no-people.tsx';
import { peopleCard, peopleColumns } from './people-columns.tsx';
import type { PeopleSearch } from './people-search.ts';
import { filterOf, parsePeopleSearch } from './people-search.ts';
import { PersonDrawer } from './person-drawer.tsx';
import type { People } from './use-people.ts';
import { usePeople } from './use-people.ts';

const filters = [
  { name: 'user', label: 'Person', placeholder: 'email or sub' },
  { name: 'org_id', label: 'Org' },
  { name: 'team_id', label: 'Team' },
  {
    name: 'within',
    label: 'Seen within',
    choices: [
      { value: 'hour', label: 'The last hour' },
      { value: 'day', label: '24 hours' },
      { value: 'week', label: '7 days' },
      { value: 'month', label: '30 days' },
    ],
  },
];

const cleared: Partial<PeopleSearch> = { user: undefined, org_id: undefined, team_id: undefined, within: undefined };

/** For whom agents acted, and what was decided. */
export function PeoplePage() {
  const [search, change] = usePageSearch(parsePeopleSearch);
  const filter = filterOf(search);
  const list = usePeople(filter);
  const { issuer, sub } = search;
  const openKey = issuer === undefined || sub === undefined ? undefined : JSON.stringify([issuer, sub]);
  return (
    <Page
      title="People"
      note="For whom agents acted"
      actions={
        <Button icon="refresh" isPending={list.query.isPending} onClick={list.refresh}>
          Refresh
        </Button>
      }
    >
      <FilterBar filters={filters} values={{ ...search }} onChange={change} />
      <Card isFlush>
        <p className="border-b px-4 py-2.5 text-sm text-muted" role="status">
          <Reach list={list} />
        </p>
        <Rows
          list={list}
          isNarrowed={Object.keys(filter).length > 0}
          openKey={openKey}
          onOpen={(user) => change({ issuer: user.issuer, sub: user.sub }, { isStep: true })}
          onClear={() => change(cleared)}
        />
      </Card>
      {openKey === undefined || issuer === undefined || sub === undefined ? null : (
        <PersonDrawer
          issuer={issuer}
          sub={sub}
          orgId={search.org_id}
          listed={list.people.find((person) => keyOfPerson(person) === openKey)}
          onClose={() => change({ issuer: undefined, sub: undefined })}
        />
      )}
    </Page>
  );
}

/** How many there are, and how far back that says something. */
function Reach({ list: { query, people, since } }: { readonly list: People }) {
  if (query.isPending) return 'Reading…';
  const count = plural(people.length, 'person', 'people');
  if (since === null) return `${count}${query.hasNextPage ? ' shown; more as you scroll' : ''}`;
  return (
    <>
      {count} in the entries of the log since <Time at={since} form="full" />
    </>
  );
}

interface RowsProps {
  readonly list: People;
  readonly isNarrowed: boolean;
  readonly openKey: string | undefined;
  readonly onOpen: (user: { readonly issuer: string; readonly sub: string }) => void;
  readonly onClear: () => void;
}

function Rows({ list: { query, people, since, refresh }, isNarrowed, openKey, onOpen, onClear }: RowsProps) {
  if (query.error !== null && people.length === 0) {
    return (
      <div className="p-4">
        <ErrorNotice error={query.error} title="The people could not be read" onRetry={refresh} />
      </div>
    );
  }
  if (query.isPending) return <Skeleton lines={8} label="The people are being read" />;
  const readOn = () => {
    if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
  };
  return (
    <>
      {people.length === 0 && !query.hasNextPage ? <NoPeople isNarrowed={isNarrowed} onClear={onClear} /> : null}
      {people.length === 0 ? null : (
        <VirtualTable
          label="People"
          columns={peopleColumns}
          card={peopleCard}
          rows={people}
          rowKey={keyOfPerson}
          activeKey={openKey}
          onOpen={({ user }) => onOpen(user)}
          // Older entries are counted only where somebody asks for it.
          onEnd={since === null ? readOn : () => undefined}
          className="max-h-[max(20rem,calc(100dvh-16rem))]"
        />
      )}
      {query.hasNextPage ? (
        <div className="flex flex-wrap items-center gap-3 border-t px-4 py-2">
          <Button size="small" isPending={query.isFetchingNextPage} onClick={readOn}>
            {since === null ? 'Show more' : 'Look further back'}
          </Button>
        </div>
      ) : null}
    </>
  );
}
