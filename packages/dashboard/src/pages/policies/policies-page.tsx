import { useRefreshOn } from '../../api/use-refresh.ts';
import { useRoute } from '../../api/use-route.ts';
import { useCan } from '../../api/use-session.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { ChoosePack } from './choose-pack.tsx';
import { parsePoliciesSearch } from './policies-search.ts';
import { byScope } from './policy-list.ts';
import { PolicySidebar } from './policy-sidebar.tsx';
import { NewPolicyWorkbench, PolicyWorkbench } from './policy-workbench.tsx';

/** The documents in force: read, write, try out and roll back. */
export function PoliciesPage() {
  const [{ name, tab = 'edit', draft }, change] = usePageSearch(parsePoliciesSearch);
  const isAdmin = useCan('admin');
  const policies = useRoute('listPolicies', { query: { per_page: 1000 } });
  useRefreshOn(['policy'], ['listPolicies', 'getPolicy', 'policyVersions'], 500);
  const first = byScope(policies.data?.items ?? [])[0]?.policies[0]?.name;
  const shown = draft === 'new' ? undefined : (name ?? first);
  const bench = {
    tab,
    onTab: (value: typeof tab) => change({ tab: value === 'edit' ? undefined : value }),
    onStored: (stored: string) => change({ name: stored, draft: undefined }),
    onRemoved: () => change({ name: undefined, tab: undefined }),
  };
  return (
    <Page
      title="Policies"
      note={
        policies.data === undefined || policies.data.items.length === 0 ? undefined : (
          <span>
            version <code>{policies.data.policy_version}</code> in force
          </span>
        )
      }
      actions={
        isAdmin ? (
          <Button
            icon="plus"
            onClick={() => change({ draft: 'new', name: undefined, tab: undefined }, { isStep: true })}
          >
            New document
          </Button>
        ) : undefined
      }
    >
      <Loaded query={policies} what="The policies">
        {({ items }) => (
          <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[18rem_minmax(0,1fr)]">
            {items.length === 0 ? null : (
              <PolicySidebar
                policies={items}
                chosen={shown}
                onChoose={(chosen) => change({ name: chosen, draft: undefined }, { isStep: true })}
              />
            )}
            <div className={items.length === 0 ? 'min-w-0 lg:col-span-2' : 'min-w-0'}>
              {draft === 'new' ? (
                <NewPolicyWorkbench {...bench} />
              ) : shown === undefined ? (
                <Card>
                  <ChoosePack />
                </Card>
              ) : (
                <PolicyWorkbench key={shown} name={shown} {...bench} />
              )}
            </div>
          </div>
        )}
      </Loaded>
    </Page>
  );
}
