import { Link } from '@tanstack/react-router';
import { useSession } from '../../api/use-session.ts';
import { PublicFrame } from '../../shell/public-frame.tsx';
import { usePageSearch } from '../../shell/search.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { KeyForm } from './key-form.tsx';
import { PasswordForm } from './password-form.tsx';
import { RegistrationForm } from './registration-form.tsx';
import { SignOnFailure, SignOnLink } from './sign-on-link.tsx';
import type { SignInSearch } from './sign-in-search.ts';
import { parseSignInSearch } from './sign-in-search.ts';
import type { WaysIn } from './use-ways-in.ts';
import { useWaysIn } from './use-ways-in.ts';

const notices = {
  ended: 'Your session has ended. Sign in to go on where you were.',
  expired: 'The token of your API key has expired. Sign in with the key again to go on where you were.',
  refused: 'Your API key does not work any more: it was revoked or rotated. Sign in with another one to go on.',
  signed_out: 'You are signed out.',
  password_changed: 'Your password is changed, and all of your sessions have ended. Sign in with the new one.',
};

const linkLook = 'inline-flex min-h-6 items-center text-accent hover:underline';

/**
 * Single sign-on, email and password, or an API key: whatever the gateway takes. A new gateway asks for its owner,
 * unless that comes by single sign-on.
 */
export function SignInPage() {
  const state = useSession();
  const ways = useWaysIn();
  const [{ by, next, error }, change] = usePageSearch(parseSignInSearch);
  const reason = state.status === 'signed_out' ? state.reason : undefined;
  const way = wayOf(ways.data, by);
  const isFirst = ways.data?.registration === 'first';
  const isNew = way === 'registration';
  return (
    <PublicFrame title={isNew ? (isFirst ? 'Create the owner account' : 'Create an account') : 'Sign in'}>
      {reason === undefined || error !== undefined ? null : (
        <p role="status" className="mb-4 rounded-md bg-info-soft p-3 text-info">
          {notices[reason]}
        </p>
      )}
      {error === undefined ? null : <SignOnFailure code={error} />}
      <Loaded query={ways} what="The ways to sign in" lines={3}>
        {({ hasAccounts, hasPasswords, hasSignOn, registration }) => (
          <div className="space-y-4">
            {hasSignOn && !isNew ? <SignOnLink next={next} isAlone={!hasPasswords && way !== 'key'} /> : null}
            {isNew ? <RegistrationForm /> : null}
            {way === 'password' ? <PasswordForm /> : null}
            {way === 'key' ? <KeyForm hasAccounts={hasAccounts} /> : null}
            {hasAccounts ? (
              <Others
                way={way}
                hasPasswords={hasPasswords}
                registration={registration}
                onChoose={(chosen) => change({ by: chosen, error: undefined }, { isStep: true })}
              />
            ) : null}
          </div>
        )}
      </Loaded>
    </PublicFrame>
  );
}

type Way = NonNullable<SignInSearch['by']> | 'sign_on';

/** The form to show: the chosen one, if the gateway takes it. */
function wayOf(ways: WaysIn | undefined, chosen: SignInSearch['by']): Way {
  if (ways === undefined) return chosen ?? 'password';
  if (!ways.hasAccounts || chosen === 'key') return 'key';
  if (!ways.hasPasswords) return 'sign_on';
  return chosen ?? (ways.registration === 'first' && !ways.hasSignOn ? 'registration' : 'password');
}

interface OthersProps {
  readonly way: Way;
  readonly hasPasswords: boolean;
  readonly registration: WaysIn['registration'];
  readonly onChoose: (by: SignInSearch['by']) => void;
}

/** The other ways to sign in, below the open one. */
function Others({ way, hasPasswords, registration, onChoose }: OthersProps) {
  return (
    <div className="space-y-3 border-t pt-4 text-sm">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        {way === 'password' || way === 'sign_on' ? null : (
          <button type="button" className={linkLook} onClick={() => onChoose('password')}>
            {hasPasswords ? 'Use email and password' : 'Use single sign-on'}
          </button>
        )}
        {way === 'key' ? null : (
          <button type="button" className={linkLook} onClick={() => onChoose('key')}>
            Use an API key
          </button>
        )}
        {way === 'password' ? (
          <Link to="/forgot" className={linkLook}>
            Forgot the password?
          </Link>
        ) : null}
      </div>
      {way === 'registration' || registration === 'closed' ? null : (
        <p className="flex flex-wrap items-center gap-x-1.5 text-muted">
          {registration === 'open' ? 'Are you new here?' : 'Is this gateway new?'}
          <button type="button" className={linkLook} onClick={() => onChoose('registration')}>
            {registration === 'open' ? 'Create an account' : 'Create the first account'}
          </button>
        </p>
      )}
    </div>
  );
}
