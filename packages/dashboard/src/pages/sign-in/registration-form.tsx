import { useState } from 'react';
import { session } from '../../api/session.ts';
import { useAction } from '../../api/use-route.ts';
import { Button } from '../../ui/button.tsx';
import { Field, TextInput } from '../../ui/field.tsx';
import { NewPasswordField } from './new-password-field.tsx';
import { passwordFault } from './new-password.ts';
import { isCode, isShownAtField, memberRefusal, passwordRefusal } from './refusal.ts';
import { RefusalNotice, useIsHeld } from './refusal-notice.tsx';

/** The first account of a gateway, which owns it. Any account if registration is open. */
export function RegistrationForm() {
  const [email, setEmail] = useState('');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<string>();
  const register = useAction(() => session.register({ email: email.trim(), name, password }), {
    isFailureShown: true,
  });
  const { error } = register;
  const isHeld = useIsHeld(error);
  const submit = () => {
    const found = passwordFault(password, { email, name });
    setFault(found);
    register.reset();
    if (found === undefined) register.mutate();
  };
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <p className="text-muted">
        The first account of a gateway is its owner. After that, people come by invite, unless registration is open.
      </p>
      <Field label="Email" error={memberRefusal(error, 'email')}>
        <TextInput
          type="email"
          name="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </Field>
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
        about={{ email, name }}
        error={fault ?? passwordRefusal(error)}
        onChange={(typed) => {
          setPassword(typed);
          setFault(undefined);
        }}
      />
      {error === null || isShownAtField(error, ['email']) ? null : <RefusalNotice error={error} />}
      {isCode(error, 'registration_closed') ? (
        <p>This gateway has an owner already. With an invite, open the link in it; it brings you to the right page.</p>
      ) : null}
      <Button type="submit" look="primary" isPending={register.isPending} disabled={isHeld} className="w-full">
        Create the account
      </Button>
    </form>
  );
}
