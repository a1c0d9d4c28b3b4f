import { usd } from '@reeve/sdk';
import type { Task } from '../demo-agent.ts';

const task = (tool: string, args: unknown, summary: string, seconds: number): Task => ({
  action: { tool, args },
  summary,
  seconds,
  estimatedCostMicros: usd('0.0002'),
});

/** Acts for people. */
export const assistant = {
  orgId: 'demo-acme',
  teamId: 'office',
  agentId: 'assistant',
  name: 'Office assistant',
  framework: 'langgraph',
} as const;

/** Two people, as the demo's issuer vouches for them. The first has an account here as well: she approves nothing of her own. */
export const people = [
  {
    claims: { sub: 'devi', email: 'devi@example.com', groups: ['staff'] },
    tasks: [
      task('mail.read', { folder: 'inbox' }, 'Read the newest mail', 3),
      task('payroll.read', { month: 'October' }, 'Look at a payslip', 2),
      task('expenses.pay', { report: 'E-17', amount_usd: 84 }, 'Pay back an expense report', 3),
    ],
  },
  {
    claims: { sub: 'carl', email: 'carl@contractors.example.com', groups: ['contractors'] },
    tasks: [
      task('calendar.read', { week: 47 }, 'Look at the week', 3),
      task('payroll.read', { month: 'October' }, 'Look at a payslip', 2),
      task('mail.read', { folder: 'project' }, 'Read the mail of the project', 3),
    ],
  },
] as const;

/** What the assistant hands to a delegate: the calendar, and no more. */
export const scheduler = {
  childId: 'scheduler',
  name: 'Scheduler',
  tools: ['calendar.*'],
  maxCostUsd: '0.50',
  maxChecks: 1000,
};

export const schedulerTasks = [
  task('calendar.read', { week: 48 }, 'Look for a free hour', 3),
  task('calendar.add', { title: 'Review', week: 48 }, 'Enter a meeting', 3),
  task('mail.read', { folder: 'inbox' }, 'Look for an answer in the mail', 2),
];

/** A job of a CI system: its token says who it is. */
export const job = { orgId: 'demo-globex', teamId: 'platform', agentId: 'nightly' } as const;

export const jobTasks = [
  task('docs.index', { shard: 1 }, 'Index the handbook', 6),
  task('docs.read', { page: 'release notes' }, 'Read the release notes', 3),
];
