import type { Grant } from '../../api/grant.ts';
import { useRoute } from '../../api/use-route.ts';
import { useGrant } from '../../api/use-session.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AccountPanel } from './account-panel.tsx';
import type { IdentityTab } from './identity-search.ts';
import { parseIdentitySearch } from './identity-search.ts';
import type { People } from './identity-tabs.ts';
import { tabsFor, whyHidden } from './identity-tabs.ts';
import { InvitesPanel } from './invites-panel.tsx';
import { KeysPanel } from './keys-panel.tsx';
import { MembersPanel } from './members-panel.tsx';
import { SessionsPanel } from './sessions-panel.tsx';

/** Who may do what: people, their invites and sessions, and the keys of machines. */
export function IdentityPage() {
  const grant = useGrant();
  const methods = useRoute('authMethods');
  return (
    <Page title="Identity">
      <Loaded query={methods} what="Identity">
        {({ methods: known }) => (grant === undefined ? null : <IdentityTabs grant={grant} people={peopleOf(known)} />)}
      </Loaded>
    </Page>
  );
}

interface IdentityTabsProps {
  readonly grant: Grant;
  readonly people: People;
}

function peopleOf(methods: readonly string[]): People {
  const hasPasswords = methods.includes('password');
  return { hasPasswords, hasAccounts: hasPasswords || methods.includes('oidc') };
}

function IdentityTabs({ grant, people }: IdentityTabsProps) {
  const [{ tab: asked }, change] = usePageSearch(parseIdentitySearch);
  const tabs = tabsFor(grant, people);
  const first = tabs[0]?.value ?? 'account';
  const tab = asked ?? first;
  const isHidden = !tabs.some(({ value }) => value === tab);
  const choose = (value: IdentityTab) =>
    change({ tab: value === first ? undefined : value, q: undefined, show: undefined }, { isStep: true });
  if (isHidden) {
    return (
      <Tabs label="Identity" tabs={tabs} value={first} onChange={choose}>
        <Card>
          <EmptyState icon="identity" title="Not for you to see">
            {whyHidden(tab, grant, people)}
          </EmptyState>
        </Card>
      </Tabs>
    );
  }
  return (
    <Tabs label="Identity" tabs={tabs} value={tab} onChange={choose}>
      {tab === 'members' ? <MembersPanel grant={grant} mayInvite={people.hasPasswords} /> : null}
      {tab === 'invites' ? <InvitesPanel grant={grant} /> : null}
      {tab === 'keys' ? <KeysPanel grant={grant} /> : null}
      {tab === 'sessions' ? <SessionsPanel /> : null}
      {tab === 'account' ? <AccountPanel grant={grant} hasPasswords={people.hasPasswords} /> : null}
    </Tabs>
  );
}
