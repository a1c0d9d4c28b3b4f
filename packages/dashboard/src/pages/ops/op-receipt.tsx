import { classes } from '../../ui/classes.ts';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';
import type { Control } from './op.ts';
import { explainReceipt, formatElapsed, nameOf, stepsOf } from './receipt.ts';
import type { Step } from './receipt.ts';
import { Confirmed, Stopwatch } from './receipt-chip.tsx';

const looks: Readonly<Record<Step['state'], string>> = {
  done: 'text-text',
  waiting: 'text-muted',
  failed: 'text-danger',
  ahead: 'text-muted',
};

/** The progress of the last control from requested to effective, as a stopwatch. */
export function OpReceipt({ control }: { readonly control: Control }) {
  const { action, actor, reason, requested_at } = control;
  return (
    <div className="space-y-2">
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-medium">{nameOf(action)}</span>
        <span className="text-muted">
          by {actor.label}
          {reason === '' ? '' : `: ${reason}`}
        </span>
        <span className="ml-auto text-lg font-semibold" aria-label="Since it was requested">
          <Stopwatch control={control} />
        </span>
      </p>
      <ol aria-label="Receipt" className="grid grid-cols-2 gap-2 sm:grid-cols-4">
        {stepsOf(control).map((step) => (
          <li key={step.name} className={classes('rounded-md border px-2.5 py-1.5 text-sm', looks[step.state])}>
            <span className="flex items-center gap-1 font-medium">
              {step.name === 'Effective' && step.state === 'done' ? <Confirmed control={control} /> : null}
              {step.state === 'failed' ? <Icon name="alert" /> : null}
              {step.name}
            </span>
            <StepTime step={step} since={requested_at} />
          </li>
        ))}
      </ol>
      <p>{explainReceipt(control)}</p>
    </div>
  );
}

function StepTime({ step: { at, state, name }, since }: { readonly step: Step; readonly since: string }) {
  if (at === null) {
    const words = { done: 'not told', waiting: 'waiting', failed: 'did not happen', ahead: 'not yet' };
    return <span>{words[state]}</span>;
  }
  if (name === 'Requested') return <Time at={at} form="clock" />;
  return <span title={at}>{`+ ${formatElapsed(Date.parse(at) - Date.parse(since))}`}</span>;
}
