/** The meaning of a colour. */
export type Tone = 'neutral' | 'accent' | 'ok' | 'warn' | 'danger' | 'info';

export const softTone: Readonly<Record<Tone, string>> = {
  neutral: 'bg-sunken text-text',
  accent: 'bg-accent-soft text-accent',
  ok: 'bg-ok-soft text-ok',
  warn: 'bg-warn-soft text-warn',
  danger: 'bg-danger-soft text-danger',
  info: 'bg-info-soft text-info',
};

export const inkTone: Readonly<Record<Tone, string>> = {
  neutral: 'text-muted',
  accent: 'text-accent',
  ok: 'text-ok',
  warn: 'text-warn',
  danger: 'text-danger',
  info: 'text-info',
};
