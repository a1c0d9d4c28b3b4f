import { Badge } from '../../ui/badge.tsx';
import { classes } from '../../ui/classes.ts';
import type { Tone } from '../../ui/tone.ts';
import type { Condition } from './topology-model.ts';

export const conditionNames: Readonly<Record<Condition, readonly [label: string, tone: Tone, title: string]>> = {
  active: ['Active', 'ok', 'May act, and has been heard of in the last 5 minutes'],
  idle: ['Idle', 'neutral', 'May act, has nothing in flight, and nothing was heard of it for 5 minutes'],
  silent: ['Silent', 'warn', 'Has work in flight, but for 5 minutes there was no check, call or heartbeat of it'],
  suspended: ['Suspended', 'danger', 'Its checks are denied and its operations paused'],
};

/** Whether an agent may act and is live, by word, colour and a dot that is filled only while both hold. */
export function ConditionBadge({ condition }: { readonly condition: Condition }) {
  const [label, tone, title] = conditionNames[condition];
  return (
    <Badge tone={tone} title={title}>
      <span
        aria-hidden="true"
        className={classes('size-1.5 rounded-full border border-current', condition === 'active' && 'bg-current')}
      />
      {label}
    </Badge>
  );
}
