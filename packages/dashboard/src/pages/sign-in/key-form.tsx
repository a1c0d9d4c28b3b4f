import { keyFault } from '@reeve/contract/key-fault';
import { useState } from 'react';
import { session } from '../../api/session.ts';
import { useAction } from '../../api/use-route.ts';
import { Field } from '../../ui/field.tsx';
import { SecretInput } from '../../ui/secret-input.tsx';
import { EntryForm } from './entry-form.tsx';

interface KeyFormProps {
  readonly hasAccounts: boolean;
}

/** Exchanges the key for a token in this tab's memory. The key is stored nowhere. */
export function KeyForm({ hasAccounts }: KeyFormProps) {
  const [key, setKey] = useState('');
  const [fault, setFault] = useState<string>();
  const exchange = useAction(() => session.logInByKey(key.trim()), { isFailureShown: true });
  const submit = () => {
    // A typo shows without sending the key anywhere.
    const found = keyFault(key.trim());
    setFault(found);
    exchange.reset();
    if (found === undefined) exchange.mutate();
  };
  return (
    <EntryForm action={exchange} onSubmit={submit} submitLabel="Sign in">
      {hasAccounts ? null : <p className="text-muted">This gateway has no account store: an API key signs you in.</p>}
      <Field
        label="API key"
        hint="It is exchanged for a short-lived token and not kept. You will be told before the token ends."
        error={fault}
      >
        <SecretInput
          autoComplete="off"
          required
          placeholder="rvk_…"
          onChange={(typed) => {
            setKey(typed);
            setFault(undefined);
          }}
        />
      </Field>
    </EntryForm>
  );
}
