import type { Answer } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/column.ts';
import { Time } from '../../ui/time.tsx';
import { bindingOf } from './key-model.ts';

export type Invite = Answer<'listInvites'>['items'][number];

interface InviteColumnsProps {
  readonly isOwner: boolean;
  readonly onResend: (invite: Invite) => void;
  readonly onRevoke: (invite: Invite) => void;
}

export function inviteColumns({ isOwner, onResend, onRevoke }: InviteColumnsProps): readonly Column<Invite>[] {
  return [
    {
      id: 'email',
      header: 'Email',
      cell: (invite) => (
        <>
          <span className="font-medium wrap-anywhere">{invite.email}</span>
          {invite.org_id === null ? null : (
            <span className="block text-xs wrap-anywhere text-muted">{`will see ${bindingOf(invite)}`}</span>
          )}
        </>
      ),
    },
    { id: 'role', header: 'Role', cell: ({ role }) => <span className="capitalize">{role}</span> },
    { id: 'made', header: 'Invited', isWideOnly: true, cell: ({ created_at: at }) => <Time at={at} /> },
    { id: 'expires', header: 'Expires', isWideOnly: true, cell: ({ expires_at: at }) => <Time at={at} /> },
    {
      id: 'act',
      header: <span className="sr-only">Resend or revoke</span>,
      align: 'right',
      cell: (invite) =>
        // Only an owner handles an invite to become an owner.
        invite.role === 'owner' && !isOwner ? (
          <span className="text-xs text-muted">An owner’s business</span>
        ) : (
          <span className="inline-flex flex-wrap justify-end gap-1.5">
            <Button size="small" aria-label={`Resend the invite of ${invite.email}`} onClick={() => onResend(invite)}>
              Resend
            </Button>
            <Button size="small" aria-label={`Revoke the invite of ${invite.email}`} onClick={() => onRevoke(invite)}>
              Revoke
            </Button>
          </span>
        ),
    },
  ];
}
