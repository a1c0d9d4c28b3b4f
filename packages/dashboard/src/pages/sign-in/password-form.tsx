import { useRef, useState } from 'react';
import { session } from '../../api/session.ts';
import { useAction } from '../../api/use-route.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox, Field, TextInput } from '../../ui/field.tsx';
import { SecretInput } from '../../ui/secret-input.tsx';
import { isCode } from './refusal.ts';
import { RefusalNotice, useIsHeld } from './refusal-notice.tsx';

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
  const isHeld = useIsHeld(logIn.error);
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        logIn.mutate();
      }}
    >
      <Field label="Email">
        <TextInput
          type="email"
          name="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => {
            setEmail(event.target.value);
            // The lock applies to one email.
            if (isCode(logIn.error, 'account_locked')) logIn.reset();
          }}
        />
      </Field>
      <Field label="Password">
        <SecretInput ref={field} name="password" autoComplete="current-password" required onChange={setPassword} />
      </Field>
      <Checkbox label="Stay signed in on this computer" checked={isRemembered} onChange={setRemembered} />
      {logIn.error === null ? null : <RefusalNotice error={logIn.error} />}
      <Button type="submit" look="primary" isPending={logIn.isPending} disabled={isHeld} className="w-full">
        Sign in
      </Button>
    </form>
  );
}
