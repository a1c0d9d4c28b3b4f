import { usePageSearch } from '../../shell/search.ts';
import { Button } from '../../ui/button.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import type { ApprovalsTab } from './approvals-search.ts';
import { parseApprovalsSearch } from './approvals-search.ts';
import { DecidedPanel } from './decided-panel.tsx';
import { GrantsPanel } from './grants-panel.tsx';
import { useNotifications } from './use-notifications.ts';
import { WaitingPanel } from './waiting-panel.tsx';

const tabs = [
  { value: 'waiting', label: 'Waiting' },
  { value: 'decided', label: 'Decided' },
  { value: 'grants', label: 'Standing grants' },
] as const;

/** Actions that need a person's approval. */
export function ApprovalsPage() {
  const [search, change] = usePageSearch(parseApprovalsSearch);
  const { id, tab = 'waiting', org_id: orgId } = search;
  const choose = (chosen: string | undefined) => change({ id: chosen });
  const notifications = useNotifications((chosen) => change({ id: chosen, tab: undefined }));
  return (
    <Page
      title="Approvals"
      actions={
        notifications.permission === 'default' ? (
          <Button onClick={notifications.ask}>Notify me of new ones</Button>
        ) : undefined
      }
    >
      <Tabs
        label="Approvals"
        tabs={tabs}
        value={tab}
        onChange={(value: ApprovalsTab) => change({ tab: value === 'waiting' ? undefined : value, id: undefined })}
      >
        {tab === 'waiting' ? <WaitingPanel orgId={orgId} chosenId={id} onChoose={choose} /> : null}
        {tab === 'decided' ? <DecidedPanel search={search} onChange={change} /> : null}
        {tab === 'grants' ? <GrantsPanel orgId={orgId} /> : null}
      </Tabs>
    </Page>
  );
}
