import { useState } from 'react';
import { session } from '../../api/session.ts';
import { useAction } from '../../api/use-route.ts';
import { EmailField, EntryForm, NameField } from './entry-form.tsx';
import { NewPasswordField } from './new-password-field.tsx';
import { passwordFault } from './new-password.ts';
import { isCode, memberRefusal, passwordRefusal } from './refusal.ts';

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
  const submit = () => {
    const found = passwordFault(password, { email, name });
    setFault(found);
    register.reset();
    if (found === undefined) register.mutate();
  };
  return (
    <EntryForm
      action={register}
      onSubmit={submit}
      submitLabel="Create the account"
      fields={['email']}
      advice={
        isCode(error, 'registration_closed') ? (
          <p>
            This gateway has an owner already. With an invite, open the link in it; it brings you to the right page.
          </p>
        ) : null
      }
    >
      <p className="text-muted">
        The first account of a gateway is its owner. After that, people come by invite, unless registration is open.
      </p>
      <EmailField value={email} onChange={setEmail} error={memberRefusal(error, 'email')} />
      <NameField value={name} onChange={setName} />
      <NewPasswordField
        password={password}
        about={{ email, name }}
        error={fault ?? passwordRefusal(error)}
        onChange={(typed) => {
          setPassword(typed);
          setFault(undefined);
        }}
      />
    </EntryForm>
  );
}
