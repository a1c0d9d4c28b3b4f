import type { KeyboardEvent, ReactNode } from 'react';
import { useId, useRef } from 'react';
import { buttonClasses } from './button.tsx';
import type { ButtonLook } from './button.tsx';
import { classes } from './classes.ts';
import type { IconName } from './icon.tsx';
import { Icon } from './icon.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly hint?: ReactNode;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Set for items of a choice: whether this one is chosen. */
  readonly isChosen?: boolean;
  readonly onSelect: () => void;
}

interface MenuProps {
  /** The accessible name of the button. */
  readonly label: string;
  /** The content of the button. The label by default. */
  readonly trigger?: ReactNode;
  readonly look?: ButtonLook;
  readonly size?: 'small' | 'normal';
  readonly items: readonly MenuItem[];
  /** Text above the items. */
  readonly header?: ReactNode;
  readonly className?: string;
}

/** A button with a list of actions. The list is a popover: above everything, closed by Escape or a click elsewhere. */
export function Menu({ label, trigger, look = 'quiet', size = 'normal', items, header, className }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const opened = (isOpen: boolean) => {
    button.current?.setAttribute('aria-expanded', String(isOpen));
    if (isOpen) {
      place(button.current, list.current);
      itemsIn(list.current)[0]?.focus();
    } else if (list.current?.contains(document.activeElement) === true) button.current?.focus();
  };
  const move = (event: KeyboardEvent<HTMLDivElement>) => {
    const all = itemsIn(list.current);
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === 'Tab') list.current?.hidePopover();
    if (next === undefined) return;
    event.preventDefault();
    all[(next + all.length) % all.length]?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        popoverTarget={id}
        aria-haspopup="menu"
        aria-expanded="false"
        aria-label={label}
        title={trigger === undefined ? undefined : label}
        className={classes(buttonClasses(look, size), className)}
      >
        {trigger ?? label}
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        onToggle={(event) => opened(event.newState === 'open')}
        className="m-0 min-w-48 max-w-[calc(100vw-1rem)] rounded-lg border border-edge/60 bg-surface p-1 text-text"
      >
        {header === undefined ? null : <div className="border-b px-2.5 pt-1 pb-2 mb-1">{header}</div>}
        <div role="menu" aria-label={label} tabIndex={-1} onKeyDown={move}>
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role={item.isChosen === undefined ? 'menuitem' : 'menuitemradio'}
              {...(item.isChosen === undefined ? {} : { 'aria-checked': item.isChosen })}
              tabIndex={-1}
              disabled={item.isDisabled === true}
              onClick={() => {
                list.current?.hidePopover();
                item.onSelect();
              }}
              className={classes(
                'flex min-h-8 w-full items-center gap-2 rounded-md px-2.5 text-left whitespace-nowrap hover:bg-hover focus:bg-hover disabled:opacity-55',
                item.isDangerous === true && 'text-danger',
              )}
            >
              {item.icon === undefined ? null : <Icon name={item.icon} className="opacity-80" />}
              <span className="flex-1">{item.label}</span>
              {item.isChosen === true ? <Icon name="check" /> : null}
              {item.hint}
            </button>
          ))}
        </div>
      </div>
    </>
  );
}

function itemsIn(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('[role^="menuitem"]:not(:disabled)') ?? [])];
}

/** Below the button, or above it without room below. Always within the window. */
function place(button: HTMLElement | null, list: HTMLElement | null): void {
  if (button === null || list === null) return;
  const at = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = list;
  const below = at.bottom + 4;
  const top = below + height > innerHeight - 8 && at.top - 4 - height > 8 ? at.top - 4 - height : below;
  const isRight = at.left + width > innerWidth - 8;
  const left = Math.max(8, isRight ? at.right - width : at.left);
  list.style.top = `${top}px`;
  list.style.left = `${left}px`;
}
