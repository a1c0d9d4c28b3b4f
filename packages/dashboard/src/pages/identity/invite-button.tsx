import { useState } from 'react';
import type { Grant } from '../../api/grant.ts';
import type { Answer } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { InviteLink } from './invite-link.tsx';

/** Invites somebody, and then shows the link once. */
export function InviteButton({ grant }: { readonly grant: Grant }) {
  const [isInviting, setInviting] = useState(false);
  const [made, setMade] = useState<Answer<'createInvite'>>();
  return (
    <>
      <Button look="primary" size="small" icon="plus" onClick={() => setInviting(true)}>
        Invite someone
      </Button>
      {isInviting ? (
        <InviteDialog
          grant={grant}
          onClose={() => setInviting(false)}
          onMade={(invite) => {
            setInviting(false);
            setMade(invite);
          }}
        />
      ) : null}
      {made === undefined ? null : <InviteLink made={made} onClose={() => setMade(undefined)} />}
    </>
  );
}
