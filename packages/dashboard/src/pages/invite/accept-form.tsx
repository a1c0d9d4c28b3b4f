import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { session } from '../../api/session.ts';
import { useAction } from '../../api/use-route.ts';
import { mailToken } from '../../shell/mail-token.ts';
import { Button } from '../../ui/button.tsx';
import { Field, TextInput } from '../../ui/field.tsx';
import { DeadLink } from '../sign-in/dead-link.tsx';
import { NewPasswordField } from '../sign-in/new-password-field.tsx';
import { passwordFault } from '../sign-in/new-password.ts';
import { isCode, isShownAtField, passwordRefusal } from '../sign-in/refusal.ts';
import { RefusalNotice, useIsHeld } from '../sign-in/refusal-notice.tsx';

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
  const isHeld = useIsHeld(error);
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
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <p className="text-muted">Your account has the email that the invite was sent to. Choose how you are called.</p>
      <Field label="Name (optional)">
        <TextInput
          name="name"
          autoComplete="name"
          maxLength={512}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <NewPasswordField
        password={password}
        about={{ name }}
        error={fault ?? passwordRefusal(error)}
        onChange={(typed) => {
          setPassword(typed);
          setFault(undefined);
        }}
      />
      {error === null || isShownAtField(error, []) ? null : <RefusalNotice error={error} />}
      <Button type="submit" look="primary" isPending={accept.isPending} disabled={isHeld} className="w-full">
        Accept and sign in
      </Button>
    </form>
  );
}
