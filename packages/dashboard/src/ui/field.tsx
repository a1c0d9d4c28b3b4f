import type { ComponentProps, ReactNode } from 'react';
import { createContext, use, useId, useMemo } from 'react';
import { classes } from './classes.ts';
import { Icon } from './icon.tsx';

interface FieldLinks {
  readonly id: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
}

const FieldContext = createContext<FieldLinks | undefined>(undefined);

interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  /** The fault of the value, and what would be right. */
  readonly error?: string | undefined;
  /** For bars without room for labels: read out, not shown. */
  readonly isLabelHidden?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A label, the control inside, a hint and an error, linked for screen readers. */
export function Field({ label, hint, error, isLabelHidden = false, className, children }: FieldProps) {
  const id = useId();
  const described = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`]
    .filter(Boolean)
    .join(' ');
  const isInvalid = error !== undefined;
  const links = useMemo(
    () => ({
      id,
      ...(described === '' ? {} : { 'aria-describedby': described }),
      ...(isInvalid ? { 'aria-invalid': true as const } : {}),
    }),
    [id, described, isInvalid],
  );
  return (
    <div className={classes('flex min-w-0 flex-col gap-1', className)}>
      <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'text-sm font-medium'}>
        {label}
      </label>
      <FieldContext value={links}>{children}</FieldContext>
      {hint === undefined ? null : (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      )}
      {error === undefined ? null : (
        <p id={`${id}-error`} role="alert" className="flex items-start gap-1.5 text-sm text-danger">
          <Icon name="alert" className="mt-0.5" />
          {error}
        </p>
      )}
    </div>
  );
}

export function TextInput({ className, ...rest }: ComponentProps<'input'>) {
  return <input type="text" {...use(FieldContext)} {...rest} className={classes('field-box', className)} />;
}

export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea rows={3} {...use(FieldContext)} {...rest} className={classes('field-box', className)} />;
}

export interface Choice<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
}

interface SelectProps<Value extends string> extends Omit<ComponentProps<'select'>, 'value' | 'onChange' | 'children'> {
  readonly value: Value;
  readonly choices: readonly Choice<Value>[];
  readonly onChange: (value: Value) => void;
}

export function Select<Value extends string>({ value, choices, onChange, className, ...rest }: SelectProps<Value>) {
  return (
    <div className={classes('relative min-w-0', className)}>
      <select
        {...use(FieldContext)}
        {...rest}
        value={value}
        onChange={(event) => onChange(event.target.value as Value)}
        className="field-box appearance-none truncate pr-8"
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
      <Icon name="down" className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2 text-muted" />
    </div>
  );
}

interface CheckboxProps extends Omit<ComponentProps<'input'>, 'type' | 'onChange'> {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly isLabelHidden?: boolean;
  readonly isMixed?: boolean;
  readonly onChange?: (isChecked: boolean) => void;
}

export function Checkbox({
  label,
  hint,
  isLabelHidden = false,
  isMixed = false,
  onChange,
  className,
  ...rest
}: CheckboxProps) {
  const id = useId();
  return (
    <div className={classes('flex min-h-6 items-start gap-2', className)}>
      <input
        id={id}
        type="checkbox"
        {...rest}
        {...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
        ref={(input) => {
          if (input !== null) input.indeterminate = isMixed;
        }}
        onChange={(event) => onChange?.(event.target.checked)}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <div>
        <label htmlFor={id} className={isLabelHidden ? 'sr-only' : ''}>
          {label}
        </label>
        {hint === undefined ? null : (
          <p id={`${id}-hint`} className="text-sm text-muted">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
