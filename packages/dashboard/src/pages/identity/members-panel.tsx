import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import { plural } from '../../api/format.ts';
import type { Grant } from '../../api/grant.ts';
import { useAction, useRoute } from '../../api/use-route.ts';
import { usePageSearch } from '../../shell/search.ts';
import { Card } from '../../ui/card.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FilterBar } from '../../ui/filter-bar.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { useIsWide } from '../../ui/use-is-wide.ts';
import { parseIdentitySearch } from './identity-search.ts';
import { InviteButton } from './invite-button.tsx';
import type { MemberChange } from './member-columns.tsx';
import { memberColumns } from './member-columns.tsx';
import { foundMembers, nameOf, roles } from './member-rules.ts';
import { MoreNote } from './more-note.tsx';

interface MembersPanelProps {
  readonly grant: Grant;
  /** Where nobody signs in by a password, nobody can accept an invite. */
  readonly mayInvite: boolean;
}

/** The people with an account, and what each may do. */
export function MembersPanel({ grant, mayInvite }: MembersPanelProps) {
  const [{ q }, change] = usePageSearch(parseIdentitySearch);
  const accounts = useRoute('listAccounts', { query: { per_page: 1000 } }, { refetchInterval: 30_000 });
  const isWide = useIsWide();
  const [asked, setAsked] = useState<MemberChange>();
  const save = useAction(
    ({ member, ...body }: MemberChange) => callRoute('changeAccount', { params: { id: member.id }, body }),
    {
      success: (saved, { status }) => {
        if (status === undefined) return `${nameOf(saved)} is ${article(saved.role)}.`;
        return `${nameOf(saved)} ${status === 'active' ? 'can sign in again' : 'is disabled'}.`;
      },
      invalidates: ['listAccounts', 'me'],
      isFailureShown: true,
    },
  );
  return (
    <Loaded query={accounts} what="The members">
      {({ items, total, next_cursor: more }) => {
        const found = foundMembers(items, q);
        const columns = memberColumns({ members: items, grant, isWide, onAsk: setAsked });
        return (
          <div className="space-y-3">
            <FilterBar
              label="Find members"
              filters={[{ name: 'q', label: 'Find', placeholder: 'Name, email or role' }]}
              values={{ q }}
              onChange={({ q: sought }) => change({ q: sought })}
            />
            <Card
              title={plural(found.length, 'member')}
              {...(mayInvite ? { actions: <InviteButton grant={grant} /> } : {})}
              isFlush
            >
              {found.length === 0 ? (
                <EmptyState icon="identity" title={items.length === 0 ? 'No members yet' : 'No member fits'}>
                  {items.length === 0 ? 'Nobody has an account yet: invite somebody.' : 'Look for something else.'}
                </EmptyState>
              ) : (
                <DataTable caption="Members" columns={columns} rows={found} rowKey={({ id }) => id} />
              )}
              {more === null ? null : <MoreNote shown={items.length} total={total} />}
            </Card>
            {asked === undefined ? null : (
              <ConfirmDialog
                isOpen
                onClose={() => setAsked(undefined)}
                title={titleOf(asked)}
                confirmLabel={
                  asked.status === undefined ? 'Change the role' : asked.status === 'active' ? 'Enable' : 'Disable'
                }
                look={asked.status === 'disabled' ? 'danger' : 'primary'}
                onConfirm={() => save.mutateAsync(asked)}
              >
                <p>{consequenceOf(asked)}</p>
                {asked.member.id === grant.account?.id ? <p>This is your own account.</p> : null}
              </ConfirmDialog>
            )}
          </div>
        );
      }}
    </Loaded>
  );
}

function article(role: string): string {
  return /^[aeiou]/.test(role) ? `an ${role}` : `a ${role}`;
}

function titleOf({ member, role, status }: MemberChange): string {
  if (role !== undefined) return `Make ${nameOf(member)} ${article(role)}`;
  return `${status === 'active' ? 'Enable' : 'Disable'} ${nameOf(member)}`;
}

function consequenceOf({ role, status }: MemberChange): string {
  if (role !== undefined) {
    return `${roles.find(({ value }) => value === role)?.may ?? ''} It applies at once, in open sessions, too.`;
  }
  return status === 'active'
    ? 'The account can sign in again with its password.'
    : 'All sessions of the account end at once, and it cannot sign in until it is enabled again.';
}
