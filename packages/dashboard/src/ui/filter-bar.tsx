import type { ReactNode } from 'react';
import { useEffect, useEffectEvent, useState } from 'react';
import { Button } from './button.tsx';
import type { Choice } from './field.tsx';
import { Field, Select, TextInput } from './field.tsx';

/** One filter: a choice, or a text search. */
export type Filter =
  | { readonly name: string; readonly label: string; readonly choices: readonly Choice[] }
  | {
      readonly name: string;
      readonly label: string;
      readonly placeholder?: string;
      readonly type?: 'text' | 'datetime-local';
    };

interface FilterBarProps {
  /** Distinguishes several bars. */
  readonly label?: string;
  readonly filters: readonly Filter[];
  /** The search params of the page. An unset filter is undefined. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly onChange: (changed: Readonly<Record<string, string | undefined>>) => void;
  /** Further content at the end of the bar, such as saved views. */
  readonly children?: ReactNode;
}

/** Filters in a line. The URL holds their values, so a view can be shared. */
export function FilterBar({ label = 'Filters', filters, values, onChange, children }: FilterBarProps) {
  const isAnySet = filters.some(({ name }) => textOf(values[name]) !== '');
  return (
    <div role="search" aria-label={label} className="flex flex-wrap items-end gap-2 max-sm:grid max-sm:grid-cols-2">
      {filters.map((filter) => (
        <Field key={filter.name} label={filter.label} className={widthOf(filter)}>
          {'choices' in filter ? (
            <Select
              value={textOf(values[filter.name])}
              choices={[{ value: '', label: 'Any' }, ...filter.choices]}
              onChange={(value) => onChange({ [filter.name]: value === '' ? undefined : value })}
            />
          ) : (
            <LateInput
              type={filter.type ?? 'text'}
              value={textOf(values[filter.name])}
              placeholder={filter.placeholder ?? 'Any'}
              onChange={(value) => onChange({ [filter.name]: value === '' ? undefined : value })}
            />
          )}
        </Field>
      ))}
      {isAnySet ? (
        <Button
          look="quiet"
          icon="close"
          className="max-sm:justify-self-start"
          onClick={() => onChange(Object.fromEntries(filters.map(({ name }) => [name, undefined])))}
        >
          Clear filters
        </Button>
      ) : null}
      {children === undefined ? null : (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2 sm:ml-auto sm:min-h-8 max-sm:col-span-2">
          {children}
        </div>
      )}
    </div>
  );
}

interface LateInputProps {
  readonly type: string;
  readonly value: string;
  readonly placeholder?: string;
  readonly onChange: (value: string) => void;
}

/** Reports the text when typing pauses. */
function LateInput({ value, onChange, ...rest }: LateInputProps) {
  const [text, setText] = useState(value);
  const [taken, setTaken] = useState(value);
  if (value !== taken) {
    setTaken(value);
    setText(value);
  }
  const tell = useEffectEvent(() => onChange(text.trim()));
  useEffect(() => {
    if (text.trim() === taken) return undefined;
    const timer = setTimeout(() => tell(), 250);
    return () => clearTimeout(timer);
  }, [text, taken]);
  return (
    <TextInput
      {...rest}
      value={text}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => setText(event.target.value)}
    />
  );
}

/** Text and times need more room than a choice. */
function widthOf(filter: Filter): string {
  if (filter.name === 'q') return 'max-sm:col-span-2 sm:w-56';
  return 'type' in filter && filter.type === 'datetime-local' ? 'sm:w-52' : 'sm:w-38';
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
