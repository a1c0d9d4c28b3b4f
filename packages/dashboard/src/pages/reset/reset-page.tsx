import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import { useObservable } from '../../api/observable.ts';
import { useAction } from '../../api/use-route.ts';
import { mailToken } from '../../shell/mail-token.ts';
import { PublicFrame } from '../../shell/public-frame.tsx';
import { buttonClasses } from '../../ui/button.tsx';
import { DeadLink } from '../sign-in/dead-link.tsx';
import { EntryForm } from '../sign-in/entry-form.tsx';
import { NewPasswordField } from '../sign-in/new-password-field.tsx';
import { passwordFault } from '../sign-in/new-password.ts';
import { isCode, passwordRefusal } from '../sign-in/refusal.ts';

export function ResetPage() {
  const token = useObservable(mailToken);
  const [isDone, setDone] = useState(false);
  return (
    <PublicFrame title="Choose a new password">
      {isDone ? (
        <div className="space-y-4">
          <p role="status">The password is changed, and all sessions of the account have ended.</p>
          <Link to="/sign-in" className={buttonClasses('primary')}>
            Sign in
          </Link>
        </div>
      ) : token === undefined ? (
        <DeadLink canAskAgain>
          <p>This page needs the link in the letter. Open it again, or ask for a new one.</p>
        </DeadLink>
      ) : (
        // Another link needs a fresh form.
        <ResetForm key={token} token={token} onDone={() => setDone(true)} />
      )}
    </PublicFrame>
  );
}

interface ResetFormProps {
  readonly token: string;
  readonly onDone: () => void;
}

function ResetForm({ token, onDone }: ResetFormProps) {
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<string>();
  const confirm = useAction(() => callRoute('confirmReset', { body: { token, password } }), {
    isFailureShown: true,
    onSuccess: () => {
      onDone();
      mailToken.set(undefined);
    },
  });
  const { error } = confirm;
  if (isCode(error, 'invalid_token')) {
    return (
      <DeadLink canAskAgain>
        <p>This link does not work: it was used already, is too old, or was not copied whole.</p>
      </DeadLink>
    );
  }
  const submit = () => {
    const found = passwordFault(password);
    setFault(found);
    confirm.reset();
    if (found === undefined) confirm.mutate();
  };
  return (
    <EntryForm action={confirm} onSubmit={submit} submitLabel="Change the password">
      <p className="text-muted">It ends all sessions of your account, wherever they are.</p>
      <NewPasswordField
        label="New password"
        password={password}
        error={fault ?? passwordRefusal(error)}
        onChange={(typed) => {
          setPassword(typed);
          setFault(undefined);
        }}
      />
    </EntryForm>
  );
}
