import type { Answer } from '../../api/send.ts';
import { Time } from '../../ui/time.tsx';
import { ShownOnce } from './shown-once.tsx';

interface InviteLinkProps {
  readonly made: Answer<'createInvite'>;
  readonly onClose: () => void;
}

/** The link of an invite. Nobody sees it again. */
export function InviteLink({ made: { invite, token }, onClose }: InviteLinkProps) {
  return (
    <ShownOnce
      title="The invite’s link"
      copyLabel="Copy the link"
      secret={`${location.origin}/invite#token=${token}`}
      onClose={onClose}
    >
      <p>
        Send it to <strong className="break-all">{invite.email}</strong> by a way that only they can read. Whoever opens
        it first becomes that member. It works until <Time at={invite.expires_at} form="full" />.
      </p>
      <p className="text-muted">Where this gateway sends mail, a letter with the link is on its way to them, too.</p>
    </ShownOnce>
  );
}
