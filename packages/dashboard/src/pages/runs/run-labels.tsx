import { useState } from 'react';
import { useCan } from '../../api/use-session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { RuleLink } from '../../ui/rule-link.tsx';
import { Time } from '../../ui/time.tsx';
import type { Clearing } from './clear-labels-dialog.tsx';
import { ClearLabelsDialog } from './clear-labels-dialog.tsx';
import { clearings } from './clearings.ts';
import type { RunDetails, RunLabel, Step } from './run.ts';

interface RunLabelsProps {
  readonly run: RunDetails;
  readonly steps: readonly Step[];
  readonly onStep: (at: number) => void;
  readonly onCleared: () => Promise<unknown>;
}

/** What the run bears, and what its agents bear in all their runs: since when, by which step and which rule. */
export function RunLabels({ run, steps, onStep, onCleared }: RunLabelsProps) {
  const mayWrite = useCan('write');
  const [clearing, setClearing] = useState<Clearing>();
  const { labels, agent_labels: ofAgents } = run;
  const row = { steps, onStep };
  return (
    <Card
      title="Labels"
      actions={
        mayWrite
          ? clearings(run).map((each) => (
              <Button key={each.name} size="small" onClick={() => setClearing(each)}>
                {each.whose.run_id === undefined ? `Clear labels of ${each.name}` : 'Clear labels'}
              </Button>
            ))
          : null
      }
    >
      {labels.length + ofAgents.length === 0 ? (
        <p className="text-muted">It bears none: no rule with labels has matched, or somebody has cleared them.</p>
      ) : (
        <ul className="space-y-2">
          {labels.map((label) => (
            <LabelRow key={label.name} label={label} {...row} />
          ))}
          {ofAgents.map((label) => (
            <LabelRow key={`${label.agent_id} ${label.name}`} label={label} agent={label.agent_id} {...row} />
          ))}
        </ul>
      )}
      {clearing === undefined ? null : (
        <ClearLabelsDialog clearing={clearing} onClose={() => setClearing(undefined)} onDone={onCleared} />
      )}
    </Card>
  );
}

interface LabelRowProps extends Pick<RunLabelsProps, 'steps' | 'onStep'> {
  readonly label: RunLabel;
  /** The agent that bears it, if it is not the run. */
  readonly agent?: string;
}

function LabelRow({ label: { name, since, op_id, policy_rule }, agent, steps, onStep }: LabelRowProps) {
  const at = steps.findIndex((step) => step.op_id === op_id) + 1;
  return (
    <li className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <Badge tone="accent">{name}</Badge>
      <span className="text-sm text-muted">
        {agent === undefined ? null : `of agent ${agent} in all its runs, `}
        since <Time at={since} form="clock" />, by the rule
      </span>
      <RuleLink rule={policy_rule} />
      {at === 0 ? null : (
        <Button size="small" look="quiet" onClick={() => onStep(at)}>
          {`Step ${at}`}
        </Button>
      )}
    </li>
  );
}
