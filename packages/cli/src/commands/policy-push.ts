import { CliError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, required, text } from '../command-line/values.ts';
import { connect } from '../http/connect.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { ProblemError } from '../http/problem-error.ts';
import { cleanText } from '../output/clean-text.ts';
import { counted } from '../output/duration.ts';
import { note, print } from '../output/print.ts';
import { readDocuments } from '../policy/offline.ts';
import type { PlannedPush } from '../policy/plan-push.ts';
import { planPush, planText } from '../policy/plan-push.ts';
import { confirm } from '../terminal/ask.ts';

interface Pushed {
  readonly name: string;
  readonly change: PlannedPush['change'];
  readonly version: number | null;
}

export const policyPushCommand = defineCommand({
  details: [
    'Needs the scope admin. Stores each document under its name, as its next version, and puts it in force at once. Shows first what differs from what is in force, and asks on a terminal. Documents of the gateway that are not in PATH stay as they are; "reeve policy delete" takes one away.',
    'With a credential that is bound to an org or a team, documents are stored as <org>/<name> or <org>/<team>/<name>; elsewhere the short name is enough. Checked before anything is sent. A document that somebody else has changed meanwhile is refused. Data: {pushed: [{name, change: new|changed|unchanged, version}]}; with --dry-run the version is that in force.',
  ],
  args: { path: required('A policy file, or a folder of them.', 'file') },
  options: {
    note: text('TEXT', 'What the change is for; the history keeps it.'),
    dryRun: flag('Only show what would change.'),
    yes: flag('Do not ask.', { short: 'y' }),
  },
  examples: [
    ['reeve policy push policies --note "ticket 42"', 'after a look at what changes'],
    ['reeve policy push policies --yes', 'without a question'],
    ['reeve policy push policies --dry-run', 'what would change'],
  ],
  run: async (input, shell) => {
    const { options, globals } = input;
    const documents = await readDocuments(input.args.path);
    const client = await connect(shell, input);
    const plan = await planPush(client, documents);
    const changing = plan.filter(({ change }) => change !== 'unchanged');
    const words = () => `${planText(shell, plan)}\n${changing.length === 0 ? 'Nothing to push.' : summary(plan)}`;
    if (options.dryRun || changing.length === 0) {
      print(shell, globals.output, { pushed: plan.map(asPlanned) }, words);
      return 0;
    }
    // The text is clean apart from colours. It goes to stderr, because the result is what was pushed.
    shell.stderr.write(`${words()}\n`);
    const question = `Put ${counted(changing.length, 'document')} in force at ${client.apiUrl}?`;
    if (!options.yes && shell.stdin.isTTY && !(await confirm(shell, question))) {
      note(shell, 'Nothing was pushed.');
      return 1;
    }
    const pushed: Pushed[] = [];
    for (const one of plan) pushed.push(await push(client, one, options.note ?? '', pushed));
    print(shell, globals.output, { pushed }, () => pushed.map(pushedText).join('\n'));
    return 0;
  },
});

async function push(
  client: GatewayClient,
  { name, source, change, baseVersion }: PlannedPush,
  why: string,
  before: readonly Pushed[],
): Promise<Pushed> {
  if (change === 'unchanged') return { name, change, version: baseVersion };
  try {
    const stored = await client.call('putPolicy', {
      params: { name },
      body: { source, note: why, base_version: baseVersion },
    });
    return { name: stored.name, change, version: stored.version };
  } catch (error) {
    const done = before.filter((one) => one.change !== 'unchanged').map((one) => one.name);
    if (!(error instanceof ProblemError) || done.length === 0) throw error;
    throw new CliError(`${error.message}\n"${name}" was not stored; in force already: ${done.join(', ')}`, {
      cause: error,
    });
  }
}

function asPlanned({ name, change, baseVersion }: PlannedPush): Pushed {
  return { name, change, version: baseVersion === 0 ? null : baseVersion };
}

function summary(plan: readonly PlannedPush[]): string {
  const count = (wanted: PlannedPush['change']) => plan.filter(({ change }) => change === wanted).length;
  return `${count('new')} new, ${count('changed')} changed, ${count('unchanged')} as they are.`;
}

function pushedText({ name, change, version }: Pushed): string {
  return cleanText(change === 'unchanged' ? `${name} is as it was.` : `${name} is in force as version ${version}.`);
}
