import { agentPath } from '@reeve/contract/names';
import { useEffect, useRef } from 'react';
import { useShortcut } from '../../shell/shortcuts.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { classes } from '../../ui/classes.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Money } from '../../ui/money.tsx';
import { Time } from '../../ui/time.tsx';
import { useIsWide } from '../../ui/use-is-wide.ts';
import { LabelChips } from './label-chips.tsx';
import type { RunDetails, Step } from './run.ts';
import { labelsOfStep } from './run.ts';
import { StepPanel } from './step-panel.tsx';
import type { ReadRun } from './use-run.ts';

interface RunStepsProps {
  readonly run: RunDetails;
  readonly read: ReadRun;
  /** The number of the step that is shown, from 1. */
  readonly at: number;
  readonly onStep: (at: number) => void;
}

/** The operations of a run in order, and all about the one that is shown: beside them, or on a phone below it. */
export function RunSteps({ run, read: { steps, query }, at, onStep }: RunStepsProps) {
  const isWide = useIsWide();
  const isMore = query.hasNextPage;
  const readOn = () => {
    if (isMore && !query.isFetchingNextPage) void query.fetchNextPage();
  };
  const move = (by: number) => {
    if (at + by > steps.length) readOn();
    else if (at + by >= 1) onStep(at + by);
  };
  useShortcut('j', 'Next step', () => move(1));
  useShortcut('k', 'Previous step', () => move(-1));
  const shown = steps[at - 1];
  if (shown === undefined && !isMore) {
    return (
      <Card>
        <EmptyState title={steps.length === 0 ? 'The log has no operation of this run' : 'There is no such step'} />
      </Card>
    );
  }
  const panel =
    shown === undefined ? null : (
      <StepPanel key={`${at} ${shown.op_id}`} step={shown} labels={labelsOfStep(run, shown)} />
    );
  return (
    <div className="grid min-w-0 items-start gap-4 md:grid-cols-2">
      <Card title="Steps" isFlush actions={<span className="text-muted">j and k move</span>}>
        <ol aria-label="Steps">
          {steps.map((step, index) => (
            <li key={`${agentPath(step.agent)}/${step.op_id} ${step.at}`} className="border-b last:border-b-0">
              <StepButton
                run={run}
                step={step}
                number={index + 1}
                isShown={index === at - 1}
                onShow={() => onStep(index + 1)}
              />
              {index === at - 1 && !isWide ? <div className="border-t p-4">{panel}</div> : null}
            </li>
          ))}
        </ol>
        {isMore ? (
          <div className="border-t px-4 py-2">
            <Button size="small" isPending={query.isFetchingNextPage} onClick={readOn}>
              Show more steps
            </Button>
          </div>
        ) : null}
      </Card>
      {isWide && panel !== null ? (
        <Card title={`Step ${at}`} className="md:sticky md:top-16 md:max-h-[calc(100dvh-5rem)] md:overflow-auto">
          {panel}
        </Card>
      ) : null}
    </div>
  );
}

interface StepButtonProps {
  readonly run: RunDetails;
  readonly step: Step;
  readonly number: number;
  readonly isShown: boolean;
  readonly onShow: () => void;
}

function StepButton({ run, step, number, isShown, onShow }: StepButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isShown) button.current?.scrollIntoView({ block: 'nearest' });
  }, [isShown]);
  const labels = labelsOfStep(run, step).map(({ name }) => name);
  return (
    <button
      ref={button}
      type="button"
      {...(isShown ? { 'aria-current': 'step' as const } : {})}
      onClick={onShow}
      className={classes(
        'grid w-full grid-cols-[2rem_minmax(0,1fr)_auto] items-start gap-x-2 px-3 py-2 text-left -outline-offset-2',
        isShown ? 'bg-accent-soft' : 'hover:bg-hover',
      )}
    >
      <span className="text-right text-muted">{number}</span>
      <span className="min-w-0 space-y-0.5">
        <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
          <StateBadge state={step.decision} />
          <span className="min-w-0 font-medium break-all">
            {step.resource === '' ? step.action_type : step.resource}
          </span>
          {run.agents.length > 1 ? <span className="text-sm text-muted">{step.agent.agent_id}</span> : null}
        </span>
        {step.decision === 'allow' ? null : <span className="block text-sm break-words">{step.reason}</span>}
        <span className="block text-sm break-all text-muted">{step.policy_rule}</span>
        <LabelChips names={labels} />
      </span>
      <span className="space-y-0.5 text-right text-sm text-muted">
        <span className="block">
          <Time at={step.at} form="clock" />
        </span>
        {step.cost_micros === 0 ? null : (
          <span className="block">
            <Money micros={step.cost_micros} />
          </span>
        )}
      </span>
    </button>
  );
}
