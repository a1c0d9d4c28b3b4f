import { Link } from '@tanstack/react-router';
import { useSession } from '../../api/use-session.ts';
import { PublicFrame } from '../../shell/public-frame.tsx';
import { usePageSearch } from '../../shell/search.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { KeyForm } from './key-form.tsx';
import { PasswordForm } from './password-form.tsx';
import { RegistrationForm } from './registration-form.tsx';
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

/** Email and password with an account store, otherwise (or by choice) an API key. A new gateway asks for its owner. */
export function SignInPage() {
  const state = useSession();
  const ways = useWaysIn();
  const [{ by }, change] = usePageSearch(parseSignInSearch);
  const reason = state.status === 'signed_out' ? state.reason : undefined;
  const isFirst = ways.data?.registration === 'first';
  const way = by ?? (isFirst ? 'registration' : 'password');
  const isNew = way === 'registration' && ways.data?.hasAccounts === true;
  return (
    <PublicFrame title={isNew ? (isFirst ? 'Create the owner account' : 'Create an account') : 'Sign in'}>
      {reason === undefined ? null : (
        <p role="status" className="mb-4 rounded-md bg-info-soft p-3 text-info">
          {notices[reason]}
        </p>
      )}
      <Loaded query={ways} what="The ways to sign in" lines={3}>
        {({ hasAccounts, registration }) =>
          hasAccounts ? (
            <div className="space-y-4">
              {isNew ? <RegistrationForm /> : way === 'key' ? <KeyForm hasAccounts /> : <PasswordForm />}
              <Others
                way={way}
                registration={registration}
                onChoose={(chosen) => change({ by: chosen }, { isStep: true })}
              />
            </div>
          ) : (
            <KeyForm hasAccounts={false} />
          )
        }
      </Loaded>
    </PublicFrame>
  );
}

interface OthersProps {
  readonly way: NonNullable<SignInSearch['by']>;
  readonly registration: WaysIn['registration'];
  readonly onChoose: (by: SignInSearch['by']) => void;
}

/** The other ways to sign in, below the open one. */
function Others({ way, registration, onChoose }: OthersProps) {
  return (
    <div className="space-y-3 border-t pt-4 text-sm">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        {way === 'password' ? null : (
          <button type="button" className={linkLook} onClick={() => onChoose('password')}>
            Use email and password
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
