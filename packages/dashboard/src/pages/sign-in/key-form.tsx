import { keyFault } from '@reeve/contract/key-fault';
import { useState } from 'react';
import { session } from '../../api/session.ts';
import { useAction } from '../../api/use-route.ts';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { SecretInput } from '../../ui/secret-input.tsx';
import { RefusalNotice, useIsHeld } from './refusal-notice.tsx';

interface KeyFormProps {
  readonly hasAccounts: boolean;
}

/** Exchanges the key for a token in this tab's memory. The key is stored nowhere. */
export function KeyForm({ hasAccounts }: KeyFormProps) {
  const [key, setKey] = useState('');
  const [fault, setFault] = useState<string>();
  const exchange = useAction(() => session.logInByKey(key.trim()), { isFailureShown: true });
  const isHeld = useIsHeld(exchange.error);
  const submit = () => {
    // A typo shows without sending the key anywhere.
    const found = keyFault(key.trim());
    setFault(found);
    exchange.reset();
    if (found === undefined) exchange.mutate();
  };
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
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
      {exchange.error === null ? null : <RefusalNotice error={exchange.error} />}
      <Button type="submit" look="primary" isPending={exchange.isPending} disabled={isHeld} className="w-full">
        Sign in
      </Button>
    </form>
  );
}
