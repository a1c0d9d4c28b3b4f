import { useRef, useState } from 'react';
import { session } from '../../api/session.ts';
import { useAction } from '../../api/use-route.ts';
import { Checkbox, Field } from '../../ui/field.tsx';
import { SecretInput } from '../../ui/secret-input.tsx';
import { EmailField, EntryForm } from './entry-form.tsx';
import { isCode } from './refusal.ts';

export function PasswordForm() {
  const field = useRef<HTMLInputElement>(null);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [isRemembered, setRemembered] = useState(false);
  const logIn = useAction(
    () =>
      session.logIn({ email: email.trim(), password, remember_me: isRemembered }).catch((error: unknown) => {
        if (isCode(error, 'wrong_credentials')) field.current?.select();
        throw error;
      }),
    { isFailureShown: true },
  );
  return (
    <EntryForm action={logIn} onSubmit={() => logIn.mutate()} submitLabel="Sign in">
      <EmailField
        value={email}
        onChange={(typed) => {
          setEmail(typed);
          // The lock applies to one email.
          if (isCode(logIn.error, 'account_locked')) logIn.reset();
        }}
      />
      <Field label="Password">
        <SecretInput ref={field} name="password" autoComplete="current-password" required onChange={setPassword} />
      </Field>
      <Checkbox label="Stay signed in on this computer" checked={isRemembered} onChange={setRemembered} />
    </EntryForm>
  );
}
