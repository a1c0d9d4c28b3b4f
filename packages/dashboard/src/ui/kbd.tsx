import { classes } from './classes.ts';

interface KbdProps {
  /** Keys to press in sequence, or together if joined by "+". `mod` is Ctrl, or ⌘ on a Mac. */
  readonly keys: string;
  /** Uses the colours of the button around it. */
  readonly isOnButton?: boolean;
}

const mod = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

export function Kbd({ keys, isOnButton = false }: KbdProps) {
  return (
    <span className={classes('inline-flex items-center gap-1', isOnButton && 'max-md:hidden')}>
      {keys.split(' ').map((key) => (
        <kbd
          key={key}
          className={classes(
            'inline-flex items-center justify-center rounded-sm border px-1 text-xs',
            isOnButton ? 'h-4.5 min-w-4.5 border-current/45' : 'h-5 min-w-5 border-edge/60 bg-sunken text-text',
          )}
        >
          {key.replace('mod', mod).replaceAll('+', ' ')}
        </kbd>
      ))}
    </span>
  );
}
