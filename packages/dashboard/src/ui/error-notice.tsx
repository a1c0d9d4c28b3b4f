import { ApiError, messageOf } from '../api/api-error.ts';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

interface ErrorNoticeProps {
  readonly error: unknown;
  /** What failed: "The operations could not be loaded". */
  readonly title?: string;
  readonly onRetry?: () => void;
}

/** What went wrong, in the gateway's words, and what to do about it. */
export function ErrorNotice({ error, title, onRetry }: ErrorNoticeProps) {
  const advice = adviceFor(error);
  return (
    <div role="alert" className="flex items-start gap-2.5 rounded-md border border-danger/40 bg-danger-soft p-3">
      <Icon name="alert" className="mt-0.5 text-danger" />
      <div className="min-w-0 flex-1 space-y-1">
        {title === undefined ? null : <p className="font-semibold">{title}</p>}
        <p>{messageOf(error)}</p>
        {advice === undefined ? null : <p>{advice}</p>}
        {onRetry === undefined ? null : (
          <Button size="small" icon="refresh" className="mt-1" onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}

function adviceFor(error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.status === 403 && error.requiredScope !== undefined) {
    return `This needs the scope “${error.requiredScope}”. Ask an administrator for a role that has it.`;
  }
  if (error.code === 'tenant_bound') return 'Sign in with a credential that is bound to no org.';
  if (error.code === 'owner_required') return 'Owners are made, changed and removed by owners: ask one of them.';
  if (error.code === 'own_agent') return 'Ask somebody whose credential has not registered the agent.';
  if (error.code === 'account_required') return 'An API key has neither a password nor sessions.';
  if (error.code === 'store_unavailable')
    return 'The gateway cannot write to its store. It goes on by itself when it can.';
  return undefined;
}
