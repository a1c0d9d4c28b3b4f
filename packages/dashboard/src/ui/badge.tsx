import type { ReactNode } from 'react';
import { opStateWords, opWords } from './op-words.ts';
import { classes } from './classes.ts';
import type { Tone } from './tone.ts';
import { softTone } from './tone.ts';

interface BadgeProps {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children: ReactNode;
}

export function Badge({ tone = 'neutral', title, children }: BadgeProps) {
  return (
    <span
      title={title}
      className={classes(
        'inline-flex h-5 items-center gap-1 rounded-sm px-1.5 text-xs font-medium whitespace-nowrap',
        softTone[tone],
      )}
    >
      {children}
    </span>
  );
}

/** Every gateway word for a state, decision or status, with its tone. */
const states: Readonly<Record<string, readonly [label: string, tone: Tone]>> = {
  ...opStateWords,
  allow: ['Allowed', 'ok'],
  deny: ['Denied', 'danger'],
  active: ['Active', 'ok'],
  held: ['Held', 'warn'],
  ended: ['Ended', 'neutral'],
  suspended: ['Suspended', 'danger'],
  disabled: ['Disabled', 'neutral'],
  revoked: ['Revoked', 'neutral'],
  expired: ['Expired', 'neutral'],
  requested: ['Requested', 'neutral'],
  delivered: ['Delivered', 'info'],
  acked: ['Acknowledged', 'info'],
  effective: ['Effective', 'ok'],
  failed: ['Failed', 'danger'],
  unconfirmed: ['Unconfirmed', 'warn'],
  open: ['Waiting', 'warn'],
  cancelled: ['Cancelled', 'neutral'],
  approved: ['Approved', 'ok'],
  granted: ['Approved', 'ok'],
  rejected: ['Rejected', 'danger'],
  ok: ['OK', 'ok'],
  degraded: ['Degraded', 'warn'],
  failing: ['Failing', 'danger'],
  leaving: ['Leaving', 'warn'],
  lost: ['Lost', 'danger'],
};

interface StateBadgeProps {
  /** As the gateway writes it: `running`, `deny`, `unconfirmed`. */
  readonly state: string;
  readonly title?: string;
}

/** A state by word and colour, with a dot that is filled only while something goes on. */
export function StateBadge({ state, title }: StateBadgeProps) {
  const [label, tone] = states[state] ?? [state, 'neutral'];
  return <DotBadge state={state} label={label} tone={tone} title={title} />;
}

/** The state of an operation, and who ended it. */
export function OpBadge({ op }: { readonly op: Parameters<typeof opWords>[0] }) {
  const [label, tone] = opWords(op);
  return <DotBadge state={op.state} label={label} tone={tone} title={op.state === 'terminated' ? label : undefined} />;
}

interface DotBadgeProps {
  readonly state: string;
  readonly label: string;
  readonly tone: Tone;
  readonly title: string | undefined;
}

function DotBadge({ state, label, tone, title }: DotBadgeProps) {
  const isOngoing = ['running', 'pending', 'active', 'requested', 'delivered'].includes(state);
  return (
    <Badge tone={tone} {...(title === undefined ? {} : { title })}>
      <span
        aria-hidden="true"
        className={classes('size-1.5 shrink-0 rounded-full border border-current', isOngoing && 'bg-current')}
      />
      <span className="max-w-36 truncate">{label}</span>
    </Badge>
  );
}
