import { useRef, useState } from 'react';
import { formatCount } from '../../api/format.ts';
import { useCan } from '../../api/use-session.ts';
import { useCommand } from '../../shell/commands.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { ActDialog } from './act-dialog.tsx';
import { BulkProgress } from './bulk-progress.tsx';
import { OpDrawer } from './op-drawer.tsx';
import { OpsFilters } from './ops-filters.tsx';
import { OpsList } from './ops-list.tsx';
import { parseOpsSearch } from './ops-search.ts';
import { ScopeDialog } from './scope-dialog.tsx';
import { useActing } from './use-acting.ts';
import type { Freeze } from './use-freeze.ts';
import { useOpenOp } from './use-open-op.ts';
import { useOpsBoard } from './use-ops-board.ts';
import { useOpsView } from './use-ops-view.ts';
import { ViewsDialog } from './views-dialog.tsx';

/** Live operations: everything in flight, and its controls. */
export function OpsPage() {
  const canControl = useCan('write');
  const [search, change] = usePageSearch(parseOpsSearch);
  const ops = useOpsBoard();
  const { all, loading } = ops;
  const open = useOpenOp(ops, search.op);
  const shown = useOpsView(ops, search, open.row?.key);
  const { asking, ask, run, act } = useActing(ops.board);
  const [dialog, setDialog] = useState<'views' | 'scope'>();
  const filters = useRef<HTMLDivElement>(null);
  const focusFilters = () => {
    filters.current?.querySelector('details')?.setAttribute('open', '');
    filters.current?.querySelector('input')?.focus();
  };
  useCommand('Views of the operations', () => setDialog('views'), { icon: 'filter' });
  useCommand('Freeze the list, or let it move on', shown.freeze.toggle, { icon: 'pause' });
  return (
    <Page
      title="Operations"
      note={loading.status === 'loaded' ? `${formatCount(shown.counts.in_flight)} in flight` : undefined}
      actions={
        <OpsActions
          freeze={shown.freeze}
          onViews={() => setDialog('views')}
          onScope={canControl ? () => setDialog('scope') : undefined}
        />
      }
    >
      <OpsFilters search={search} rows={all} onChange={change} boxRef={filters} />
      {search.control === undefined ? null : (
        <BulkProgress controlId={search.control} onClose={() => change({ control: undefined })} />
      )}
      <OpsList
        ops={ops}
        shown={shown}
        search={search}
        onChange={change}
        openKey={open.row?.key}
        onAct={act}
        onSearch={focusFilters}
        canControl={canControl}
      />
      {search.op === undefined ? null : (
        <OpDrawer
          key={search.op}
          asked={search.op}
          open={open}
          onClose={() => change({ op: undefined })}
          onAct={canControl ? (action, rows) => ask({ action, rows }) : undefined}
        />
      )}
      {asking === undefined ? null : (
        <ActDialog {...asking} onClose={() => ask(undefined)} onConfirm={(reason) => run(asking, reason)} />
      )}
      {dialog !== 'scope' ? null : (
        <ScopeDialog
          rows={all}
          filter={search}
          onClose={() => setDialog(undefined)}
          onDone={(id) => change({ control: id })}
        />
      )}
      <ViewsDialog search={search} isOpen={dialog === 'views'} onClose={() => setDialog(undefined)} />
    </Page>
  );
}

interface OpsActionsProps {
  readonly freeze: Freeze;
  readonly onViews: () => void;
  /** Missing if the person may only look. */
  readonly onScope: (() => void) | undefined;
}

function OpsActions({ freeze, onViews, onScope }: OpsActionsProps) {
  return (
    <>
      <Button
        icon="pause"
        look={freeze.isFrozen ? 'primary' : 'plain'}
        aria-pressed={freeze.isFrozen}
        title="The list stands still while you read; what its rows say stays true (f)"
        onClick={freeze.toggle}
      >
        Freeze
      </Button>
      <Button icon="filter" onClick={onViews}>
        Views
      </Button>
      {onScope === undefined ? null : (
        <Button icon="stop" onClick={onScope}>
          Control a scope
        </Button>
      )}
    </>
  );
}
