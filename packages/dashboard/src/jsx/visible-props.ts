import { visibleText } from '@reeve/contract/visible-text';

/** The attributes whose text a person reads or hears. */
const attributes = ['title', 'aria-label', 'alt', 'placeholder'] as const;

/**
 * What an element shows, with hidden characters of its texts written out. Agents choose many of these texts, and people
 * decide by them. `value` stays as it is: it is what somebody edits.
 */
export function visibleProps<Props extends object>(props: Props): Props {
  let shown: Record<string, unknown> | undefined;
  for (const name of ['children', ...attributes]) {
    const before = (props as Record<string, unknown>)[name];
    const after = visible(before);
    if (after !== before) (shown ??= { ...props } as Record<string, unknown>)[name] = after;
  }
  return (shown ?? props) as Props;
}

/** The same value if nothing in it is hidden, so that what is memoised stays so. */
function visible(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value);
  if (!Array.isArray(value)) return value;
  const shown = value.map(visible);
  return shown.some((each, index) => each !== value[index]) ? shown : value;
}
