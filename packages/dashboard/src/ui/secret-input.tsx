import type { ComponentProps } from 'react';
import { useState } from 'react';
import { IconButton } from './button.tsx';
import { TextInput } from './field.tsx';

interface SecretInputProps
  extends Omit<ComponentProps<typeof TextInput>, 'type' | 'value' | 'defaultValue' | 'onChange'> {
  readonly autoComplete: string;
  readonly onChange: (secret: string) => void;
}

/**
 * A password or key, hidden by default. It has no `value`, because React would write that into the document as an
 * attribute, for anything that reads the page. A form's `reset()` empties it.
 */
export function SecretInput({ onChange, ...rest }: SecretInputProps) {
  const [isShown, setShown] = useState(false);
  return (
    <span className="relative block">
      <TextInput
        spellCheck={false}
        autoCapitalize="none"
        {...rest}
        type={isShown ? 'text' : 'password'}
        className="pr-9"
        onChange={(event) => onChange(event.target.value)}
      />
      <IconButton
        icon="eye"
        size="small"
        label="Show what is typed"
        aria-pressed={isShown}
        className="absolute inset-y-0.5 right-0.5 aria-pressed:text-accent"
        onClick={() => setShown(!isShown)}
      />
    </span>
  );
}
