import { Observable } from '../api/observable.ts';
import type { Tone } from './tone.ts';

export interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly text: string;
  /** A follow-up action, such as going where it happened. */
  readonly action?: { readonly label: string; readonly run: () => void };
}

export const toasts = new Observable<readonly Toast[]>([]);

/** The text for screen readers, whether it is visible or not. */
export const spoken = new Observable('');

let next = 1;

function show(tone: Tone, text: string, action?: Toast['action']): void {
  const id = next++;
  toasts.set([...toasts.value.slice(-3), { id, tone, text, ...(action === undefined ? {} : { action }) }]);
  // An error stays until it is dismissed.
  if (tone === 'danger') return;
  spoken.set(text);
  setTimeout(() => dismissToast(id), 6000);
}

export function dismissToast(id: number): void {
  toasts.set(toasts.value.filter((toast) => toast.id !== id));
}

/** Notifies the person, in a corner of the page and for screen readers. */
export const toast = {
  ok: (text: string, action?: Toast['action']) => show('ok', text, action),
  info: (text: string, action?: Toast['action']) => show('info', text, action),
  warn: (text: string, action?: Toast['action']) => show('warn', text, action),
  failed: (text: string, action?: Toast['action']) => show('danger', text, action),
  said: (text: string) => spoken.set(text),
};
