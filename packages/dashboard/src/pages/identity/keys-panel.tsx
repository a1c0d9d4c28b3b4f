import { useState } from 'react';
import { plural } from '../../api/format.ts';
import type { Grant } from '../../api/grant.ts';
import { useRoute } from '../../api/use-route.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { useNow } from '../../ui/now.ts';
import { Segments } from '../../ui/segments.tsx';
import { useIsWide } from '../../ui/use-is-wide.ts';
import { parseIdentitySearch } from './identity-search.ts';
import type { AskedKey } from './key-act-dialog.tsx';
import { KeyActDialog } from './key-act-dialog.tsx';
import { keyColumns } from './key-columns.tsx';
import { KeyDialog } from './key-dialog.tsx';
import { foundKeys } from './key-model.ts';
import type { MadeKey } from './made-key.tsx';
import { MadeKeyDialog } from './made-key.tsx';
import { MoreNote } from './more-note.tsx';

/** The credentials of agents and scripts. */
export function KeysPanel({ grant }: { readonly grant: Grant }) {
  const [{ q, show }] = usePageSearch(parseIdentitySearch);
  const now = useNow(10_000);
  const isWide = useIsWide();
  const keys = useRoute('listApiKeys', { query: { per_page: 1000 } }, { refetchInterval: 15_000 });
  const ownId = useRoute('me').data?.key?.id;
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<MadeKey>();
  const [asked, setAsked] = useState<AskedKey>();
  return (
    <Loaded query={keys} what="The API keys">
      {({ items, total, next_cursor: more }) => {
        const found = foundKeys(items, { q, show }, now);
        return (
          <div className="space-y-3">
            <KeyFilters />
            <Card
              title={plural(found.length, 'key')}
              actions={
                <Button look="primary" size="small" icon="plus" onClick={() => setMaking(true)}>
                  Create a key
                </Button>
              }
              isFlush
            >
              {found.length === 0 ? (
                <EmptyState icon="key" title="No key fits" command="reeve keys create --help">
                  {items.length === 0
                    ? 'Agents and scripts sign in with keys. Create one.'
                    : 'Look for something else.'}
                </EmptyState>
              ) : (
                <DataTable
                  caption="API keys"
                  columns={keyColumns({ now, ownId, isWide, onAsk: setAsked })}
                  rows={found}
                  rowKey={({ id }) => id}
                />
              )}
              {more === null ? null : <MoreNote shown={items.length} total={total} />}
            </Card>
            {isMaking ? (
              <KeyDialog
                grant={grant}
                onClose={() => setMaking(false)}
                onMade={(key) => {
                  setMaking(false);
                  setMade(key);
                }}
              />
            ) : null}
            {asked === undefined ? null : (
              <KeyActDialog
                asked={asked}
                isOwn={asked.apiKey.id === ownId}
                onClose={() => setAsked(undefined)}
                onMade={setMade}
              />
            )}
            {made === undefined ? null : <MadeKeyDialog made={made} onClose={() => setMade(undefined)} />}
          </div>
        );
      }}
    </Loaded>
  );
}

function KeyFilters() {
  const [{ q, show }, change] = usePageSearch(parseIdentitySearch);
  return (
    <FilterBar
      label="Find keys"
      filters={[{ name: 'q', label: 'Find', placeholder: 'Label, id or org' }]}
      values={{ q }}
      onChange={({ q: sought }) => change({ q: sought })}
    >
      <Segments
        label="Which keys"
        value={show ?? 'active'}
        choices={[
          { value: 'active', label: 'In use' },
          { value: 'all', label: 'All' },
        ]}
        onChange={(value) => change({ show: value === 'all' ? 'all' : undefined })}
      />
    </FilterBar>
  );
}
