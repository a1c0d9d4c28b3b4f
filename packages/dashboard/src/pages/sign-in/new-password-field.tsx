import { classes } from '../../ui/classes.ts';
import { Field } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { SecretInput } from '../../ui/secret-input.tsx';
import type { About } from './new-password.ts';
import { passwordRules } from './new-password.ts';

interface NewPasswordFieldProps {
  readonly label?: string;
  readonly password: string;
  readonly about?: About;
  readonly error: string | undefined;
  readonly onChange: (password: string) => void;
}

/** A new password, with the gateway's rules and whether it meets them. */
export function NewPasswordField({ label = 'Password', password, about, error, onChange }: NewPasswordFieldProps) {
  return (
    <Field
      label={label}
      error={error}
      hint={
        <>
          {passwordRules(password, about).map(({ text, isMet }) => (
            <span key={text} className={classes('flex items-center gap-1.5', isMet && 'text-ok')}>
              <Icon name={isMet ? 'check' : 'info'} />
              {text}
            </span>
          ))}
          <span className="block">Four or five unrelated words are easy to keep and hard to guess.</span>
        </>
      }
    >
      <SecretInput autoComplete="new-password" required onChange={onChange} />
    </Field>
  );
}
