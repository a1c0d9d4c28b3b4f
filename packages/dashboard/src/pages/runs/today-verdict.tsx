import { callRoute } from '../../api/call.ts';
import { useAction } from '../../api/use-route.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { RuleLink } from '../../ui/rule-link.tsx';
import type { Entry } from '../ops/history-words.ts';
import { ConsideredRules } from '../policies/considered-rules.tsx';
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
        <div role="status" aria-label="Today" className="overflow-clip rounded-md border">
          <div className="space-y-1 p-3">
            <p className="flex flex-wrap items-center gap-2">
              <StateBadge state={data.decision} />
              <RuleLink rule={data.policy_rule} />
              <span className="text-sm text-muted">
                {data.decision === step.decision ? 'as then' : 'otherwise than then'}
              </span>
            </p>
            <p className="break-words">{data.reason}</p>
            <p className="text-sm text-muted">What is spent and counted now counts, and so do rates and caps.</p>
            {recorded.gaps.map((gap) => (
              <p key={gap} className="text-sm text-muted">
                {gap}
              </p>
            ))}
          </div>
          <ConsideredRules rules={data.rules} />
        </div>
      )}
    </div>
  );
}
