import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { GatewayClient } from '../http/gateway-client.ts';
import { counted } from '../output/duration.ts';
import type { Finding } from './finding.ts';
import { failed, messageOf, ok, skipped } from './finding.ts';

const name = 'ledger';
const mostShown = 5;

type BudgetVerification = RouteOutput<Routes['verifyBudgets']>;

/** Whether the balances match the sums in the audit log. */
export async function checkLedger(client: GatewayClient): Promise<Finding> {
  try {
    const found = await client.call('verifyBudgets', {});
    const since = found.checked_from === null ? '' : `; the log was cut, and is whole since ${found.checked_from}`;
    const detail = `${counted(found.checked_entries, 'settlement')} of this month`;
    if (found.consistent) return ok(name, `the budgets are what the log adds up to: ${detail}${since}`);
    return failed(
      name,
      `the budgets are not what the log adds up to: ${detail}${since}\n${differences(found)}`,
      'Keep the store as it is, and look who has written to it; the audit log is what counts.',
    );
  } catch (error) {
    return failed(name, messageOf(error), 'Look at the log of the gateway.');
  }
}

function differences({ differences: all }: BudgetVerification): string {
  const lines = all.slice(0, mostShown).map(({ tier, org_id, team_id, agent_id, period, ledger_usd, log_usd }) => {
    const who = [org_id, team_id, agent_id].filter((part) => part !== null).join('/');
    const what = period === null ? 'held back' : `spent this ${period}`;
    return `${[tier, who].filter(Boolean).join(' ')}, ${what}: ${ledger_usd} USD, by the log ${log_usd} USD`;
  });
  return [...lines, ...(all.length > mostShown ? [`and ${all.length - mostShown} more`] : [])].join('\n');
}

export function ledgerNeedsAdmin(): Finding {
  return skipped(name, 'the credential does not suffice', 'Use one with the scope admin that is bound to no tenant.');
}
