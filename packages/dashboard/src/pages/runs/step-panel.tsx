import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { buttonClasses } from '../../ui/button.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { RuleLink } from '../../ui/rule-link.tsx';
import { Time } from '../../ui/time.tsx';
import type { Entry } from '../ops/history-words.ts';
import { titleOf } from '../ops/history-words.ts';
import { keyOf } from '../ops/op.ts';
import { OpApproval } from '../ops/op-approval.tsx';
import { OpDecision } from '../ops/op-decision.tsx';
import { OpHistory } from '../ops/op-history.tsx';
import { OpRequest } from '../ops/op-request.tsx';
import { useOpEntries } from '../ops/use-op-entries.ts';
import { LabelChips } from './label-chips.tsx';
import type { RunLabel, Step } from './run.ts';
import { countsText, recordOf } from './step-record.ts';
import { TodayVerdict } from './today-verdict.tsx';

interface StepPanelProps {
  readonly step: Step;
  readonly labels: readonly RunLabel[];
}

/** All that the log has of one step: what was asked, why it was answered so, what came back, and what followed. */
export function StepPanel({ step, labels }: StepPanelProps) {
  const { op_id, agent, state } = step;
  // The request below says whether they could be read.
  const { data } = useOpEntries(op_id, agent);
  const { decided, results } = recordOf(step, data?.items ?? []);
  return (
    <div className="space-y-5">
      <Section title="Request">
        <OpRequest opId={op_id} agent={agent} />
        {decided === undefined ? null : <Digests payload={decided.payload} />}
      </Section>
      {state === 'pending' ? (
        <Section title="Waiting for">
          <OpApproval op={step} />
        </Section>
      ) : null}
      <Section title="Decision">
        <OpDecision opKey={keyOf(step)} />
      </Section>
      {labels.length === 0 ? null : (
        <Section title="Labels that it gave">
          <LabelChips names={labels.map(({ name }) => name)} />
        </Section>
      )}
      {results.length === 0 ? null : (
        <Section title="Result">
          <ul className="space-y-2">
            {results.map((entry) => (
              <li key={entry.seq}>
                <ResultVerdict entry={entry} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      {decided === undefined ? null : (
        <Section title="Today">
          <TodayVerdict step={step} decided={decided} />
        </Section>
      )}
      <Section title="History">
        <OpHistory opId={op_id} agent={agent} stamp={state ?? ''} />
      </Section>
      <Link to="/ops" search={{ op: keyOf(step) }} className={buttonClasses('plain', 'small')}>
        Operation
      </Link>
    </div>
  );
}

/** What became of a result. The log never has the result itself. */
function ResultVerdict({ entry }: { readonly entry: Entry }) {
  const [words, tone] = titleOf(entry);
  const { payload, policy_rule: rule, reason } = entry;
  const found = countsText(payload);
  return (
    <>
      <span className="flex flex-wrap items-center gap-2">
        <Badge tone={tone}>{words}</Badge>
        {rule === null ? null : <RuleLink rule={rule} />}
        <span className="text-sm text-muted">
          {typeof payload['size'] === 'number' ? `${payload['size']} bytes, ` : null}
          <Time at={entry.at} form="clock" />
        </span>
      </span>
      {reason === null || reason === '' ? null : <span className="block break-words">{reason}</span>}
      {found === '' ? null : <span className="block text-sm text-muted">{`Replaced: ${found}`}</span>}
    </>
  );
}

const digests = [
  ['digest', 'Digest'],
  ['rewritten_args_sha256', 'As rewritten'],
] as const;

function Digests({ payload }: { readonly payload: Entry['payload'] }) {
  return (
    <Facts>
      {digests.map(([member, name]) => {
        const value = payload[member];
        if (typeof value !== 'string') return null;
        return (
          <Fact key={member} name={name}>
            <code className="text-sm break-all">{value}</code>
          </Fact>
        );
      })}
    </Facts>
  );
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="space-y-2">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  );
}
