import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { session } from '../../api/session.ts';
import { useAction } from '../../api/use-route.ts';
import { mailToken } from '../../shell/mail-token.ts';
import { DeadLink } from '../sign-in/dead-link.tsx';
import { EntryForm, NameField } from '../sign-in/entry-form.tsx';
import { NewPasswordField } from '../sign-in/new-password-field.tsx';
import { passwordFault } from '../sign-in/new-password.ts';
import { isCode, passwordRefusal } from '../sign-in/refusal.ts';

/** Accepting signs the person in, and replaces any former session. */
export function AcceptForm({ token }: { readonly token: string }) {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<string>();
  const accept = useAction(() => session.acceptInvite({ token, name, password }), {
    isFailureShown: true,
    onSuccess: () => {
      void navigate({ to: '/', replace: true }).then(() => mailToken.set(undefined));
    },
  });
  const { error } = accept;
  if (isCode(error, 'invalid_token')) {
    return (
      <DeadLink>
        <p>This invite does not work: it was accepted already, was revoked or replaced, or is too old.</p>
        <p>If you have accepted it, sign in. Otherwise ask whoever invited you for a new one.</p>
      </DeadLink>
    );
  }
  const submit = () => {
    const found = passwordFault(password, { name });
    setFault(found);
    accept.reset();
    if (found === undefined) accept.mutate();
  };
  return (
    <EntryForm action={accept} onSubmit={submit} submitLabel="Accept and sign in">
      <p className="text-muted">Your account has the email that the invite was sent to. Choose how you are called.</p>
      <NameField value={name} onChange={setName} />
      <NewPasswordField
        password={password}
        about={{ name }}
        error={fault ?? passwordRefusal(error)}
        onChange={(typed) => {
          setPassword(typed);
          setFault(undefined);
        }}
      />
    </EntryForm>
  );
}
