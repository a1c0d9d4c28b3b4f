import { useObservable } from '../../api/observable.ts';
import { mailToken } from '../../shell/mail-token.ts';
import { PublicFrame } from '../../shell/public-frame.tsx';
import { DeadLink } from '../sign-in/dead-link.tsx';
import { AcceptForm } from './accept-form.tsx';

export function InvitePage() {
  const token = useObservable(mailToken);
  return (
    <PublicFrame title="Accept the invite">
      {token === undefined ? (
        <DeadLink>
          <p>
            This page needs the link of your invite. Open it again; if it is lost, ask whoever invited you for a new
            one.
          </p>
        </DeadLink>
      ) : (
        // Another link needs a fresh form.
        <AcceptForm key={token} token={token} />
      )}
    </PublicFrame>
  );
}
