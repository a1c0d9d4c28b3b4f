import { callRoute } from '../../api/call.ts';
import { useAction } from '../../api/use-route.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { RuleLink } from '../../ui/rule-link.tsx';
import type { Entry } from '../ops/history-words.ts';
import { RuleList } from '../ops/rule-list.tsx';
import { recordedRequest } from './recorded-request.ts';
import type { Step } from './run.ts';

interface TodayVerdictProps {
  readonly step: Step;
  /** The entry of its decision. */
  readonly decided: Entry;
}

/** Asks what the policies in force would say to the step, by what the log has of it. Nothing is recorded or charged. */
export function TodayVerdict({ step, decided }: TodayVerdictProps) {
  const recorded = recordedRequest(step, decided.payload);
  const ask = useAction((body: NonNullable<typeof recorded>['body']) => callRoute('simulatePolicy', { body }), {
    isFailureShown: true,
  });
  if (recorded === undefined) return <p className="text-muted">The log has too little of it to ask again.</p>;
  const { data, error, isPending } = ask;
  return (
    <div className="space-y-2">
      <Button size="small" isPending={isPending} onClick={() => ask.mutate(recorded.body)}>
        What would today’s policy say?
      </Button>
      {error === null ? null : <ErrorNotice error={error} title="It could not be asked again" />}
      {data === undefined ? null : (
        <div role="status" aria-label="Today" className="space-y-2">
          <p className="flex flex-wrap items-center gap-2">
            <StateBadge state={data.decision} />
            <RuleLink rule={data.policy_rule} />
            <span className="text-sm text-muted">
              {data.decision === step.decision ? 'as then' : 'otherwise than then'}
            </span>
          </p>
          <p className="break-words">{data.reason}</p>
          {['What is spent and counted now counts, and so do rates and caps.', ...recorded.gaps].map((note) => (
            <p key={note} className="text-sm text-muted">
              {note}
            </p>
          ))}
          <RuleList rules={data.rules} />
        </div>
      )}
    </div>
  );
}
