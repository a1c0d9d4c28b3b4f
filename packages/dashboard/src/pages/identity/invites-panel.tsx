import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import { plural } from '../../api/format.ts';
import type { Grant } from '../../api/grant.ts';
import type { Answer } from '../../api/send.ts';
import { useAction, useRoute } from '../../api/use-route.ts';
import { Card } from '../../ui/card.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { inviteColumns } from './invite-columns.tsx';
import type { Invite } from './invite-columns.tsx';
import { InviteButton } from './invite-button.tsx';
import { InviteLink } from './invite-link.tsx';
import { MoreNote } from './more-note.tsx';

type MadeInvite = Answer<'createInvite'>;

/** People who were invited and have not joined yet. */
export function InvitesPanel({ grant }: { readonly grant: Grant }) {
  const invites = useRoute('listInvites', { query: { per_page: 1000 } }, { refetchInterval: 30_000 });
  const [resent, setResent] = useState<MadeInvite>();
  const [revoked, setRevoked] = useState<Invite>();
  const resend = useAction(
    async ({ id }: Invite) => {
      const renewed = await callRoute('resendInvite', { params: { id } });
      // The invite has a new id now, which any next action needs.
      await invites.refetch();
      return renewed;
    },
    {
      success: ({ invite }) => `The invite of ${invite.email} has a new link; the old one has stopped working.`,
      onSuccess: setResent,
    },
  );
  const revoke = useAction(({ id }: Invite) => callRoute('revokeInvite', { params: { id } }), {
    success: (_, { email }) => `The invite of ${email} is revoked.`,
    invalidates: ['listInvites'],
    isFailureShown: true,
  });
  const isOwner = grant.account?.role === 'owner';
  return (
    <Loaded query={invites} what="The invites">
      {({ items, total, next_cursor: more }) => (
        <>
          <Card title={plural(total, 'open invite')} actions={<InviteButton grant={grant} />} isFlush>
            {items.length === 0 ? (
              <EmptyState icon="mail" title="No open invites">
                Invite somebody by email. They choose a password, and are members with the role that you give them.
              </EmptyState>
            ) : (
              <DataTable
                caption="Open invites"
                columns={inviteColumns({ isOwner, onResend: (invite) => resend.mutate(invite), onRevoke: setRevoked })}
                rows={items}
                rowKey={({ id }) => id}
              />
            )}
            {more === null ? null : <MoreNote shown={items.length} total={total} />}
          </Card>
          {resent === undefined ? null : <InviteLink made={resent} onClose={() => setResent(undefined)} />}
          {revoked === undefined ? null : (
            <ConfirmDialog
              isOpen
              onClose={() => setRevoked(undefined)}
              title="Revoke the invite"
              confirmLabel="Revoke"
              look="danger"
              onConfirm={() => revoke.mutateAsync(revoked)}
            >
              <p>
                The link that <strong className="break-all">{revoked.email}</strong> was given stops working.
              </p>
            </ConfirmDialog>
          )}
        </>
      )}
    </Loaded>
  );
}
