import { useEffect, useEffectEvent } from 'react';
import { Observable } from '../api/observable.ts';

export interface Shortcut {
  /** One key (`a`, `?`, `mod+k`), or two in sequence (`g o`). */
  readonly keys: string;
  /** What it does, for the list of shortcuts. */
  readonly label: string;
  readonly group: string;
  readonly run: () => void;
}

export const shortcuts = new Observable<readonly Shortcut[]>([]);

let pending = '';
let forget: ReturnType<typeof setTimeout> | undefined;

/** One listener for all. It ignores keys meant for a field or an open dialog. */
function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  const withMod = event.ctrlKey || event.metaKey;
  const name = event.key === ' ' ? 'Space' : event.key;
  const key = withMod ? `mod+${name.toLowerCase()}` : name;
  // These keys press the focused element.
  if ((key === 'Space' || key === 'Enter') && isPressable(event.target)) return;
  if (!withMod && (isTyping(event.target) || document.querySelector('dialog[open]') !== null)) return;
  const both = `${pending} ${key}`;
  const found =
    shortcuts.value.findLast(({ keys }) => keys === both) ?? shortcuts.value.findLast(({ keys }) => keys === key);
  clearTimeout(forget);
  pending = '';
  if (found !== undefined) {
    event.preventDefault();
    found.run();
  } else if (shortcuts.value.some(({ keys }) => keys.startsWith(`${key} `))) {
    pending = key;
    forget = setTimeout(() => (pending = ''), 1200);
  }
}

function isPressable(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.closest('button, a, summary, label, [role^="menuitem"], [role="tab"]') !== null
  );
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

export function listenForShortcuts(): () => void {
  document.addEventListener('keydown', onKeyDown);
  return () => document.removeEventListener('keydown', onKeyDown);
}

/** While the component is mounted, the key does this. Later components win over earlier ones with the same key. */
export function useShortcut(keys: string, label: string, run: () => void, group = 'This page'): void {
  const act = useEffectEvent(run);
  useEffect(() => {
    const shortcut: Shortcut = { keys, label, group, run: () => act() };
    shortcuts.set([...shortcuts.value, shortcut]);
    return () => shortcuts.set(shortcuts.value.filter((each) => each !== shortcut));
  }, [keys, label, group]);
}
