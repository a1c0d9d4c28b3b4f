import { pathPart } from '@reeve/contract/names';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { formatCount } from '../../api/format.ts';
import { useCan } from '../../api/use-session.ts';
import { usePageSearch } from '../../shell/search.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Button, buttonClasses } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Fact, Facts } from '../../ui/facts.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Money } from '../../ui/money.tsx';
import { Page } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import { ScopeDialog } from '../ops/scope-dialog.tsx';
import type { RunDetails, RunPlace } from './run.ts';
import { nameOfRun } from './run.ts';
import { RunAgents } from './run-agents.tsx';
import { RunLabels } from './run-labels.tsx';
import { parseRunSearch, placeIn } from './run-search.ts';
import { RunSteps } from './run-steps.tsx';
import { useRun } from './use-run.ts';

/** One run: what it bears, and its operations step by step. */
export function RunPage() {
  const [search] = usePageSearch(parseRunSearch);
  const place = placeIn(search);
  if (place === undefined) return <Page title="Run">{noRun('The address names no run')}</Page>;
  return <NamedRun place={place} />;
}

function NamedRun({ place }: { readonly place: RunPlace }) {
  const [search, change] = usePageSearch(parseRunSearch);
  const read = useRun(place);
  const mayWrite = useCan('write');
  const { run, steps, refresh, query } = read;
  const onStep = (at: number) => change({ step: String(at) });
  const isGone = query.error instanceof ApiError && query.error.status === 404;
  return (
    <Page
      title={`Run ${nameOfRun(place)}`}
      actions={
        <>
          {mayWrite && run !== undefined ? <ControlRun run={run} /> : null}
          <Link to="/runs" className={buttonClasses()}>
            All runs
          </Link>
        </>
      }
    >
      {isGone ? (
        noRun('There is no such run, or it was forgotten')
      ) : (
        <Loaded query={{ ...query, data: run }} what="The run" lines={8}>
          {(found) => (
            <>
              <div className="grid min-w-0 items-start gap-4 md:grid-cols-2">
                <RunSummary run={found} />
                <RunLabels run={found} steps={steps} onStep={onStep} onCleared={refresh} />
              </div>
              <RunSteps run={found} read={read} at={Number(search.step ?? 1)} onStep={onStep} />
            </>
          )}
        </Loaded>
      )}
    </Page>
  );
}

function noRun(title: string) {
  return (
    <Card>
      <EmptyState
        icon="runs"
        title={title}
        actions={
          <Link to="/runs" className={buttonClasses()}>
            All runs
          </Link>
        }
      >
        <p>
          A run that has ended is forgotten after some time, with its labels. The audit log still has what happened.
        </p>
      </EmptyState>
    </Card>
  );
}

function RunSummary({ run }: { readonly run: RunDetails }) {
  return (
    <Card title="Summary">
      <Facts>
        <Fact name="State">
          <StateBadge state={run.state} />
        </Fact>
        <Fact name="Agents">
          <RunAgents run={run} />
        </Fact>
        <Fact name="Checks">{formatCount(run.checks)}</Fact>
        <Fact name="Denied">{formatCount(run.denied)}</Fact>
        <Fact name="Cost">
          <Money usd={run.cost_usd} />
        </Fact>
        <Fact name="Began">
          <Time at={run.started_at} form="full" />
        </Fact>
        <Fact name="Last activity">
          <Time at={run.last_at} form="full" />
        </Fact>
      </Facts>
    </Card>
  );
}

/** Pauses or stops what is in flight, and holds back what comes after, by the dialog of the operations. */
function ControlRun({ run }: { readonly run: RunDetails }) {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const { org_id, team_id, run_id, agent_id } = run;
  const named = agent_id === null ? { run_id } : { team_id: pathPart(team_id), agent_id };
  return (
    <>
      <Button icon="pause" onClick={() => setOpen(true)}>
        Pause or stop
      </Button>
      {isOpen ? (
        <ScopeDialog
          rows={new Map()}
          filter={{ org_id: pathPart(org_id), ...named }}
          onClose={() => setOpen(false)}
          onDone={(control) => void navigate({ to: '/ops', search: { control } })}
        />
      ) : null}
    </>
  );
}
