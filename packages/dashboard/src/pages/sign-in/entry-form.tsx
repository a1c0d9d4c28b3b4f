import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { Field, TextInput } from '../../ui/field.tsx';
import { isShownAtField } from './refusal.ts';
import { RefusalNotice, useIsHeld } from './refusal-notice.tsx';

interface EntryFormProps {
  readonly action: { readonly error: unknown; readonly isPending: boolean };
  readonly onSubmit: () => void;
  readonly submitLabel: string;
  /** The members of the request whose refusals are shown at their fields. */
  readonly fields?: readonly string[];
  /** Stands between a refusal and the button. */
  readonly advice?: ReactNode;
  readonly children: ReactNode;
}

/** A form for people who are not signed in. It shows why the gateway refused, and waits as long as that wants it to. */
export function EntryForm({ action, onSubmit, submitLabel, fields, advice, children }: EntryFormProps) {
  const { error, isPending } = action;
  const isHeld = useIsHeld(error);
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      {error === null || isShownAtField(error, fields ?? []) ? null : <RefusalNotice error={error} />}
      {advice}
      <Button type="submit" look="primary" isPending={isPending} disabled={isHeld} className="w-full">
        {submitLabel}
      </Button>
    </form>
  );
}

interface TextFieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error?: string | undefined;
}

export function EmailField({ value, onChange, error }: TextFieldProps) {
  return (
    <Field label="Email" error={error}>
      <TextInput
        type="email"
        name="email"
        autoComplete="username"
        required
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

export function NameField({ value, onChange }: TextFieldProps) {
  return (
    <Field label="Name (optional)">
      <TextInput
        name="name"
        autoComplete="name"
        maxLength={512}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}
