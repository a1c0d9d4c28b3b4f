import type { ReactNode } from 'react';
import type { Account, Grant } from '../../api/grant.ts';
import { useRoute } from '../../api/use-route.ts';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Time } from '../../ui/time.tsx';
import { ChangePasswordForm } from './change-password-form.tsx';
import { bindingOf } from './key-model.ts';
import { roles } from './member-rules.ts';

interface AccountPanelProps {
  readonly grant: Grant;
  readonly hasPasswords: boolean;
}

/** The caller's own identity, as the gateway sees it, and the own password. */
export function AccountPanel({ grant, hasPasswords }: AccountPanelProps) {
  const me = useRoute('me');
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Card title={grant.kind === 'account' ? 'Your account' : 'The key that you are signed in with'}>
        <Loaded query={me} what="Your account">
          {({ account, key, scopes, ...binding }) => (
            <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2">
              {account === undefined ? null : (
                <>
                  <Fact term="Name">{account.name === '' ? '–' : account.name}</Fact>
                  <Fact term="Email">{account.email}</Fact>
                  <Fact term="Role">
                    <span className="capitalize">{account.role}</span>
                    <span className="block text-sm text-muted">
                      {roles.find(({ value }) => value === account.role)?.may}
                    </span>
                  </Fact>
                  <Fact term="Since">
                    <Time at={account.created_at} form="date" />
                  </Fact>
                </>
              )}
              {key === undefined ? null : (
                <>
                  <Fact term="Label">{key.label}</Fact>
                  <Fact term="Id">
                    <code>{key.id}</code>
                  </Fact>
                  <Fact term="Expires">
                    {key.expires_at === null ? 'never' : <Time at={key.expires_at} form="full" />}
                  </Fact>
                </>
              )}
              <Fact term="Scopes">
                <span className="flex flex-wrap gap-1">
                  {scopes.map((scope) => (
                    <Badge key={scope}>{scope}</Badge>
                  ))}
                </span>
              </Fact>
              <Fact term="Sees">{bindingOf(binding)}</Fact>
            </dl>
          )}
        </Loaded>
      </Card>
      {grant.account === undefined || !hasPasswords ? null : <OwnPassword account={grant.account} />}
    </div>
  );
}

/** Who came by single sign-on has no password to change. */
function OwnPassword({ account }: { readonly account: Account }) {
  const sessions = useRoute('listSessions', { query: { per_page: 1000 } });
  const own = sessions.data?.items.find(({ current }) => current);
  return own?.via === 'oidc' ? null : <ChangePasswordForm account={account} />;
}

function Fact({ term, children }: { readonly term: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{term}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </>
  );
}
