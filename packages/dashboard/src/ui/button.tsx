import type { ComponentProps, ReactNode } from 'react';
import { classes } from './classes.ts';
import type { IconName } from './icon.tsx';
import { Icon } from './icon.tsx';

export type ButtonLook = 'plain' | 'primary' | 'danger' | 'quiet';

const looks: Readonly<Record<ButtonLook, string>> = {
  plain: 'border-edge/60 bg-surface text-text hover:bg-hover',
  primary: 'border-transparent bg-accent text-on-accent hover:bg-accent-strong',
  danger: 'border-transparent bg-danger text-on-danger hover:bg-danger-strong',
  quiet: 'border-transparent text-muted hover:bg-hover hover:text-text',
};

const base =
  'inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none disabled:opacity-55 disabled:pointer-events-none aria-disabled:opacity-55';

/** The classes of a button, for a link that looks like one. */
export function buttonClasses(look: ButtonLook = 'plain', size: 'small' | 'normal' = 'normal'): string {
  return classes(base, looks[look], size === 'small' ? 'h-7 px-2.5 text-sm' : 'h-8 px-3 text-base');
}

interface ButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  readonly look?: ButtonLook;
  readonly size?: 'small' | 'normal';
  readonly icon?: IconName;
  /** The action is in progress: the button says so, and takes no second click. */
  readonly isPending?: boolean;
  readonly children: ReactNode;
}

export function Button({ look, size, icon, isPending = false, className, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled === true || isPending}
      aria-busy={isPending}
      className={classes(buttonClasses(look, size), className)}
    >
      {isPending ? <Spinner /> : icon === undefined ? null : <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children' | 'aria-label'> {
  readonly icon: IconName;
  /** The accessible name, also shown on hover. */
  readonly label: string;
  readonly look?: ButtonLook;
  readonly size?: 'small' | 'normal';
}

export function IconButton({ icon, label, look = 'quiet', size = 'normal', className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      aria-label={label}
      className={classes(base, looks[look], size === 'small' ? 'size-7' : 'size-8', className)}
    >
      <Icon name={icon} />
    </button>
  );
}

function Spinner() {
  return (
    <span
      aria-hidden="true"
      className="size-3.5 animate-spin rounded-full border-2 border-current border-r-transparent motion-reduce:animate-none"
    />
  );
}
