import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import type { Account } from '../../api/grant.ts';
import { session } from '../../api/session.ts';
import { useAction } from '../../api/use-route.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Field } from '../../ui/field.tsx';
import { SecretInput } from '../../ui/secret-input.tsx';
import { NewPasswordField } from '../sign-in/new-password-field.tsx';
import { passwordFault } from '../sign-in/new-password.ts';
import { isCode, isShownAtField, passwordRefusal } from '../sign-in/refusal.ts';
import { RefusalNotice, useIsHeld } from '../sign-in/refusal-notice.tsx';

/** Ends all sessions of the account, this one included. The sign-in follows, and returns here. */
export function ChangePasswordForm({ account }: { readonly account: Account }) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<string>();
  const change = () => callRoute('changePassword', { body: { current_password: current, password } });
  const save = useAction(() => session.endBy('password_changed', change), { isFailureShown: true });
  const { error } = save;
  const isWrong = isCode(error, 'wrong_password');
  const isHeld = useIsHeld(error);
  const submit = () => {
    const found = passwordFault(password, account);
    setFault(found);
    save.reset();
    if (found === undefined) save.mutate();
  };
  return (
    <Card title="Change the password">
      <form
        className="max-w-md space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        {/* Tells password managers whose password it is. */}
        <input type="text" name="email" autoComplete="username" value={account.email} readOnly hidden />
        <Field label="Current password" error={isWrong ? 'This is not your current password.' : undefined}>
          <SecretInput autoComplete="current-password" required onChange={setCurrent} />
        </Field>
        <NewPasswordField
          label="New password"
          password={password}
          about={account}
          error={fault ?? passwordRefusal(error)}
          onChange={(typed) => {
            setPassword(typed);
            setFault(undefined);
          }}
        />
        {error === null || isWrong || isShownAtField(error, []) ? null : <RefusalNotice error={error} />}
        <p className="text-sm text-muted">All of your sessions end with it, this one included.</p>
        <Button type="submit" look="primary" isPending={save.isPending} disabled={isHeld}>
          Change the password
        </Button>
      </form>
    </Card>
  );
}
