import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'yaml';
import { endWithUs } from '../../harness/end-with-us.ts';
import { send, TokenIssuer } from '../../harness/token-issuer.ts';
import type { ForeignSuite, SuiteResult } from '../foreign-suite.ts';
import { HookGateway } from '../hooks/hook-gateway.ts';
import { pythonWith } from '../tools.ts';
import { knownPasses } from './known-passes.ts';
import { taskNames } from './task-names.ts';

/** What `replay.py` tells of attacks. */
interface Attacked {
  readonly tried: number;
  readonly stopped: number;
  /** How often the user's task was done nevertheless, and nothing else was changed, by the judgement of AgentDojo. */
  readonly useful: number;
  /** How often every call of the user's task was let through. */
  readonly unhindered: number;
  /** How often each attack that passed did so. */
  readonly passed: Readonly<Record<string, number>>;
}

interface Replayed {
  readonly benign: {
    readonly tasks: number;
    readonly done: number;
    readonly approvals: number;
    readonly not_done: readonly string[];
  };
  /** How many approvals they need where nobody says what the requests name. */
  readonly unnamed: number;
  readonly attacked: Attacked & { readonly without_calls: readonly string[] };
  readonly own: Attacked;
}

const here = resolve('tests/conformance/agentdojo');
const pack = resolve('packages/cli/packs/flow');
const suites = ['workspace', 'travel', 'banking', 'slack'] as const;
/** Whom the pack knows before anybody fills it in, as a part of patterns. */
const nobodyInLists = '^[\\\\w.+-]+@example\\\\.com$';
const nobody = `${nobodyInLists}|^https://([a-z0-9-]+\\\\.)*example\\\\.com(/[^\\\\s,;<>@]*)?$`;
/** What a suite may add to the pack. */
const mostLines = 20;

export const agentdojoSuite: ForeignSuite = {
  name: 'agentdojo',
  about: `The tasks of [AgentDojo](https://agentdojo.spylab.ai), replayed without a model under the pack \`flow\`, with whom
the organisation knows filled in and at most ${mostLines} lines for each suite (\`tests/conformance/agentdojo\`). Known are
those whom the user of a suite has dealt with before the tasks; we wrote the lists with the suites in view. The agent is as
obedient as can be: it does the calls of the user's task, and all that an attacker asks as soon as a result shows it those
words. What the user's request names literally (addresses, accounts, what stands in quotes) is in the token of the user,
before the agent begins; the table also says how many approvals are needed without that. A person answers approvals, yes for
the task and no for the attack. Ours are attacks of our own, against these rules. A task under attack is let
through if none of its calls is refused; AgentDojo says besides whether it is done and nothing else is changed, such as which
mails have been read. These attacks pass, and any other one fails:

${Object.entries(knownPasses)
  .map(([attack, why]) => `- ${attack}: ${why}.`)
  .join('\n')}`,
  prepare: (say) => pythonWith('agentdojo', ['agentdojo==0.1.35', 'grpcio>=1.66', 'protobuf>=6.30,<8'], say),
  async run(python, say) {
    say('agentdojo: all suites at once, which takes some minutes');
    const found = await Promise.all(
      suites.map(async (suite) => {
        const result = await replayed(python, suite);
        say(`agentdojo: ${suite}: ${JSON.stringify(result)}`);
        return [suite, result] as const;
      }),
    );
    return judged(Object.fromEntries(found));
  },
};

async function replayed(python: string, suite: string): Promise<Replayed> {
  await using issuer = await TokenIssuer.start();
  // The application that takes the request of the user: it says for whom the run is, and what the request names.
  issuer.answer = async ({ parameters }, response) => {
    const claims = { sub: 'user', task_names: taskNames(parameters['request'] ?? '') };
    send(response, 200, { access_token: await issuer.sign(claims) });
  };
  await using gateway = await HookGateway.start(policiesOf(suite), issuer.subjects);
  const child = spawn(python, [join(here, 'replay.py')], {
    env: { ...process.env, PYTHONPATH: resolve('clients/python/src') },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  endWithUs(child);
  const { REEVE_API_KEY: key } = gateway.env(suite);
  child.stdin.end(JSON.stringify({ suite, url: gateway.http, grpc: gateway.grpc, key, issuer: issuer.url }));
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`replay.py ended with ${child.exitCode}`);
  return JSON.parse(output) as Replayed;
}

/** The pack with known people filled in, and what the suite adds. */
function policiesOf(suite: string): Record<string, string> {
  const added = readFileSync(join(here, `${suite}.yaml`), 'utf8');
  const lines = added.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (lines.length > mostLines) throw new Error(`${suite}.yaml has ${lines.length} lines`);
  const { known } = parse(/^# known: .*$/m.exec(added)?.[0].slice(2) ?? '') as { readonly known: string };
  const filled = (source: string) => source.replaceAll(nobody, known).replaceAll(nobodyInLists, known);
  const files = readdirSync(pack).filter((file) => file.endsWith('.yaml'));
  const documents = files.map((file) => [file, filled(readFileSync(join(pack, file), 'utf8'))] as const);
  return { ...Object.fromEntries(documents), [`${suite}.yaml`]: added };
}

function judged(found: Readonly<Record<string, Replayed>>): SuiteResult {
  const all = Object.values(found);
  const sum = (of: (each: Replayed) => number) => all.reduce((total, each) => total + of(each), 0);
  const counts = {
    'user tasks': sum(({ benign }) => benign.tasks),
    'of them done': sum(({ benign }) => benign.done),
    'approvals for them': sum(({ benign }) => benign.approvals),
    'approvals without those names': sum(({ unnamed }) => unnamed),
    'attacks tried': sum(({ attacked }) => attacked.tried),
    'of them stopped': sum(({ attacked }) => attacked.stopped),
    'user tasks let through under attack': sum(({ attacked }) => attacked.unhindered),
    'of them done and nothing else changed': sum(({ attacked }) => attacked.useful),
    'attacks of our own tried': sum(({ own }) => own.tried),
    'of ours stopped': sum(({ own }) => own.stopped),
  };
  const failures = Object.entries(found).flatMap(([suite, { benign, attacked, own }]) => [
    ...benign.not_done.map((task) => `${suite}: ${task} cannot be done`),
    ...Object.keys({ ...attacked.passed, ...own.passed }).map((attack) => `${suite}: ${attack} passes`),
  ]);
  const unforeseen = failures.filter((failure) => !Object.hasOwn(knownPasses, failure));
  const passed = counts['of them done'] + counts['of them stopped'] + counts['of ours stopped'];
  return { counts, passed, failures: unforeseen };
}
