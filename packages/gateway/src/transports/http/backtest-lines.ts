import { setTimeout as delay } from 'node:timers/promises';
import type { backtestLine } from '@reeve/contract/http';
import type { BacktestLine, ChangedDecision } from '@reeve/core';
import { ReeveError, timestamp } from '@reeve/core';
import type { z } from 'zod';

type WireLine = z.input<typeof backtestLine>;

/** How long a client may hear nothing. */
const longestSilence = 1000;

/**
 * The lines of a backtest as text. If reading a page of the log takes long, the last progress is repeated, so that a
 * client can tell slow from dead. An error on the way becomes the last line.
 */
export async function* backtestText(
  lines: AsyncGenerator<BacktestLine>,
  onError: (error: unknown) => void,
  silence = longestSilence,
): AsyncGenerator<string> {
  let last: WireLine = { type: 'progress', examined: 0, total: null, changed: 0, share: 0 };
  try {
    let next = lines.next();
    for (;;) {
      const timer = new AbortController();
      const quiet = delay(silence, undefined, { signal: timer.signal }).catch(() => undefined);
      const step = await Promise.race([next, quiet]).finally(() => timer.abort());
      if (step === undefined) {
        yield text(last);
        continue;
      }
      if (step.done === true) return;
      const line = lineJson(step.value);
      if (line.type === 'progress') last = line;
      yield text(line);
      next = lines.next();
    }
  } catch (error) {
    if (!(error instanceof ReeveError)) onError(error);
    const detail =
      error instanceof ReeveError ? error.message : 'something went wrong here; the log of the gateway has the details';
    yield text({ type: 'error', detail });
  } finally {
    await lines.return(undefined);
  }
}

function text(line: WireLine): string {
  return `${JSON.stringify(line)}\n`;
}

function lineJson(line: BacktestLine): WireLine {
  switch (line.type) {
    case 'progress':
      return { ...line, total: null };
    case 'change':
      return { type: 'change', change: changeJson(line.change) };
    case 'result':
      return {
        type: 'result',
        from: timestamp(line.from),
        to: timestamp(line.to),
        examined: line.examined,
        skipped: line.skipped,
        changed: line.changed,
        by_outcome: line.byOutcome.map(({ was, wouldBe, count }) => ({ was, would_be: wouldBe, count })),
        by_rule: line.byRule.map(({ rule, was, wouldBe, count }) => ({ rule, was, would_be: wouldBe, count })),
        by_agent: line.byAgent.map(({ agent, was, wouldBe, count }) => ({
          org_id: agent.orgId,
          team_id: agent.teamId,
          agent_id: agent.agentId,
          was,
          would_be: wouldBe,
          count,
        })),
      };
  }
}

function changeJson({ recorded, was, wouldBe, wouldBeRule }: ChangedDecision) {
  return {
    seq: recorded.seq,
    at: timestamp(recorded.at),
    op_id: recorded.opId,
    org_id: recorded.agent.orgId,
    team_id: recorded.agent.teamId,
    agent_id: recorded.agent.agentId,
    action_type: recorded.action.type,
    resource: recorded.resource,
    was,
    was_rule: recorded.policyRule,
    would_be: wouldBe,
    would_be_rule: wouldBeRule,
  };
}
