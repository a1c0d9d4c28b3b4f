import { useGrant } from '../api/use-session.ts';
import { useNow } from '../ui/now.ts';
import { Countdown } from '../ui/time.tsx';

const noticeMs = 5 * 60_000;

/** An API key's token cannot be renewed, because the key is not kept. The person is told before it ends. */
export function ExpiryNotice() {
  const grant = useGrant();
  const now = useNow(10_000);
  if (grant?.kind !== 'api_key' || grant.expiresAt - now > noticeMs) return null;
  return (
    <p role="status" className="border-b bg-warn-soft px-4 py-2 text-warn">
      This session ends in <Countdown to={new Date(grant.expiresAt).toISOString()} />. Sign in with the API key again to
      go on.
    </p>
  );
}
