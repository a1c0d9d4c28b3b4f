import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Icon } from '../../ui/icon.tsx';
import { useNow } from '../../ui/now.ts';
import { Countdown } from '../../ui/time.tsx';
import type { Wait } from './refusal.ts';
import { waitOf } from './refusal.ts';

/** Whether a retry is still pointless. */
export function useIsHeld(error: unknown): boolean {
  const now = useNow(1000);
  const wait = waitOf(error);
  return wait !== undefined && wait.until > now;
}

/** Why the gateway refused the sign-in, and when a retry is possible. */
export function RefusalNotice({ error }: { readonly error: unknown }) {
  const wait = waitOf(error);
  const isHeld = useIsHeld(error);
  if (wait === undefined) return <ErrorNotice error={error} />;
  return isHeld ? (
    <HeldNotice wait={wait} />
  ) : (
    <p role="status" className="rounded-md bg-info-soft p-3 text-info">
      You may try again now.
    </p>
  );
}

function HeldNotice({ wait: { why, until } }: { readonly wait: Wait }) {
  return (
    <div className="flex items-start gap-2.5 rounded-md border border-warn/40 bg-warn-soft p-3">
      <Icon name="alert" className="mt-0.5 text-warn" />
      <div className="min-w-0 flex-1 space-y-1">
        <p role="alert">{why}</p>
        {/* Not read out, because it changes every second. */}
        <p>
          Try again in <Countdown to={new Date(until).toISOString()} />.
        </p>
      </div>
    </div>
  );
}
