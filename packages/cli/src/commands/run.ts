import { constants, homedir, userInfo } from 'node:os';
import { isatty } from 'node:tty';
import { identityOptions } from '../agent-identity/identity-options.ts';
import { InterruptedError, UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { choice, decimal, each, flag, number, text } from '../command-line/values.ts';
import { cleanText } from '../output/clean-text.ts';
import { print } from '../output/print.ts';
import type { Acting } from '../run/act-as.ts';
import { Cgroup } from '../run/cgroup/cgroup.ts';
import type { Limits } from '../run/cgroup/limits.ts';
import { examineGroups } from '../run/cgroup/examine-groups.ts';
import { EarlyJail } from '../run/early-jail.ts';
import { endBySignal } from '../run/end-by-signal.ts';
import { entryProgram } from '../run/entry/entry-program.ts';
import { FloorError, floorExits } from '../run/floor-error.ts';
import type { Ground, Machine } from '../run/examine-machine.ts';
import { examineMachine, requireGround, requireProof } from '../run/examine-machine.ts';
import { requireCommand } from '../run/find-command.ts';
import { leaveTerminal } from '../run/leave-terminal.ts';
import { bubblewrapLine } from '../run/jail/bubblewrap-line.ts';
import { jailEnvironment } from '../run/jail/environment.ts';
import { heededSignals } from '../run/jail/group-signals.ts';
import type { FilePlan } from '../run/jail/plan-files.ts';
import { planFiles } from '../run/jail/plan-files.ts';
import { lockRules } from '../run/landlock/lock-rules.ts';
import { insideEnvironment, insideToken } from '../run/network/inside-environment.ts';
import type { Profile } from '../run/profile.ts';
import { leastLimits, longestGraceSecs, lostGatewayWays } from '../run/profile.ts';
import { shellLine } from '../run/shell-words.ts';
import { shippedProfiles } from '../run/shipped-profiles.ts';
import { usualPath } from '../run/usual-path.ts';
import { Voice } from '../run/voice.ts';
import type { PlannedLine } from '../run/waiting-jail.ts';
import { WaitingJail } from '../run/waiting-jail.ts';
import type { Shell } from '../shell.ts';

const defaultGraceSecs = 5;
const defaultWaitSecs = 300;

export const runCommand = defineCommand({
  details: [
    'Asks the gateway whether the command may run, and runs it so that the kernel holds it, on Linux with bubblewrap: everything is read-only but the working folder, --write paths and a /tmp of its own; the home folder, other processes, devices and sockets of this machine are not there; the only way to the network is a proxy, which asks the gateway for each connection. Settings of coding agents, of editors and of git in the working folder stay as they are.',
    'PAUSE freezes every process of it, RESUME lets them go on, TERMINATE ends them, whatever they do against it.',
    'Ends with the code of the command, with 128 and the number of a signal that killed it, or with 125 if the floor cannot be had or no gateway answers, 126 if the command is denied, 127 if it is not found, 143 after TERMINATE.',
  ],
  args: {},
  rest: { placeholder: '-- COMMAND ARGS…', summary: 'The command.' },
  options: {
    ...identityOptions,
    run: text('ID', 'The run that the command belongs to.'),
    approvalWait: number('SECS', `How long to wait for an approval. Default ${defaultWaitSecs}.`, {
      min: 0,
      max: 86_400,
    }),
    profile: text(
      'FILE',
      `A YAML file with write, read, hide, env, memory, pids, cpus, grace, lost_gateway; or ${Object.keys(shippedProfiles).join(', ')}.`,
      {
        completes: 'file',
      },
    ),
    write: each('PATH', 'May be written, too.', { completes: 'file' }),
    read: each('PATH', 'Is there although it is in the home folder; read-only.', { completes: 'file' }),
    hide: each('PATH', 'Is not there.', { completes: 'file' }),
    env: each('NAME', 'A variable of the environment that the command gets, too.'),
    memory: number('BYTES', 'The most memory that all of it may use. Needs a control group.', {
      min: leastLimits.memory,
      max: Number.MAX_SAFE_INTEGER,
    }),
    pids: number('N', 'The most processes and threads. Needs a control group.', {
      min: leastLimits.pids,
      max: 4_194_304,
    }),
    cpus: decimal('N', 'The most processors, as 1.5. Needs a control group.', { min: leastLimits.cpus, max: 1024 }),
    grace: number('SECS', `How long TERMINATE waits before it kills. Default ${defaultGraceSecs}.`, {
      min: 0,
      max: longestGraceSecs,
    }),
    lostGateway: choice(lostGatewayWays, 'What happens once the gateway is lost for 30 s. Default pause.'),
    doctor: flag('Say what this machine offers, and run nothing.'),
    print: flag('Print how bubblewrap would be called and what policy would say, and run nothing.'),
  },
  examples: [
    ['reeve run --agent acme/web/coder -- claude', 'a coding agent on a floor'],
    ['reeve run --read ~/.npmrc --env NPM_TOKEN -- npm test', 'with one file of the home folder, and one variable'],
    ['reeve run --doctor', 'does it work here?'],
  ],
  run: async ({ options, rest, globals }, shell) => {
    const path = shell.env['PATH'] ?? usualPath;
    if (options.doctor) return showMachine(shell, globals.output, await examineMachine(path, untrustedHere()));
    const [command] = rest;
    if (command === undefined) throw new UsageError('give a command after "--"');
    const profile = await wishesOf(options);
    const planNow = () => planFiles({ ...profile, folder: process.cwd(), homes: homesOf() });
    const plan = planNow();
    const env = jailEnvironment({ ...shell.env, PATH: path }, profile.env);
    if (options.print) {
      const ground = await requireProof(path, plan.writable);
      const words = [ground.bubblewrap, ...lineOf(plan, plan.top), '--', ...rest];
      const start = { command: rest, folder: plan.folder, runId: options.run, flags: options };
      const { policyOfStart, policyText } = await import('../run/policy-of-start.ts');
      const policy = await policyOfStart(shell, globals, start);
      print(
        shell,
        globals.output,
        { words, environment: Object.keys(env), landlock: ground.landlock ?? null, policy },
        () => `${shellLine(words)}\n# policy: ${cleanText(policyText(policy))}`,
      );
      return 0;
    }
    process.once('exit', leaveTerminal);
    await using voice = new Voice();
    const say = (line: string) => voice.say(`reeve run: ${cleanText(line)}`);
    const ground = requireGround(path, plan.writable);
    const { grace = defaultGraceSecs, lostGateway = 'pause', memory, pids, cpus } = profile;
    const token = insideToken();
    const onTerminal = [0, 1, 2].some((stream) => isatty(stream));
    const jail = { ...ground, command: rest, folder: plan.folder, env: { ...env, ...insideEnvironment(token) } };
    const group = Promise.withResolvers<Cgroup | undefined>();
    group.promise.catch(() => {});
    const make = (now: FilePlan) => new WaitingJail({ ...jail, onTerminal }, plannedLine(ground, now), group.promise);
    await using early = new EarlyJail({ plan: planNow, make }, plan);
    let withdraw: () => Promise<void> = () => Promise.resolve();
    using ending = endBySignal(() => Promise.all([withdraw(), early.close().then(() => removed(group.promise))]));
    await using cgroup = groupFor({ memory, pids, cpus }, group, () => early.begin());
    const [{ actAs, endOf }, { FlooredProgram }] = await Promise.all([
      import('../run/act-as.ts'),
      import('../run/run-program.ts'),
    ]);
    const program = new FlooredProgram({ graceMs: grace * 1000, lostGateway, say });
    withdraw = () => program.withdraw();
    const acting = actAs({ shell, globals, flags: options, about: { framework: 'reeve run' } }, program.hear);
    acting.catch(() => {});
    // The check needs it for its ids, and Node takes its time to load it. Here that is time in which others are waited for.
    crypto.getRandomValues(new Uint8Array(1));
    try {
      await early.stands().catch(async (error: unknown) => {
        await requireProof(path, plan.writable);
        throw error;
      });
      const { agent, gateway } = await acting;
      const waitMs = (options.approvalWait ?? defaultWaitSecs) * 1000;
      const onHeld = ({ approvalId, reason }: { approvalId: string | undefined; reason: string }) => {
        void early.leave();
        say(`waiting for an approval${approvalId === undefined ? '' : ` (${approvalId})`}: ${reason}`);
      };
      const onBegun = () => ending[Symbol.dispose]();
      const { folder } = plan;
      const requireThere = () => requireCommand(command, path, plan);
      const floored = { command: rest, folder, requireCommand: requireThere, jail: early, cgroup, onTerminal, onBegun };
      const code = await program.run(floored, agent, { gateway, token, runId: options.run, waitMs, onHeld });
      // A shell goes on with its list of commands unless the key has killed what it started.
      if (program.wasInterrupted) throw new InterruptedError();
      return code;
    } catch (error) {
      throw endOf(error, program) ?? error;
    } finally {
      // The group can be removed only once nothing is in it.
      await early.close();
      await acting.then(leave, () => {});
    }
  },
});

/**
 * Made while bubblewrap starts, which then waits for it. Not so with limits: where groups have the second version, the kernel
 * limits them only if this process is still alone in their parent.
 */
function groupFor(
  limits: Limits,
  group: PromiseWithResolvers<Cgroup | undefined>,
  beginJail: () => void,
): Cgroup | undefined {
  const isLimited = Object.values(limits).some((limit) => limit !== undefined);
  try {
    if (!isLimited) beginJail();
    const cgroup = Cgroup.make(limits);
    group.resolve(cgroup);
    if (isLimited) beginJail();
    void cgroup?.prepare();
    return cgroup;
  } catch (error) {
    group.reject(error);
    throw error;
  }
}

async function removed(group: Promise<Cgroup | undefined>): Promise<void> {
  await (await group)?.[Symbol.asyncDispose]();
}

async function leave({ agent, reeve }: Acting): Promise<void> {
  await agent.close();
  reeve.close();
}

type Flags = Profile & {
  readonly profile: string | undefined;
};

async function wishesOf({ profile, ...flags }: Flags): Promise<Profile> {
  if (profile === undefined) return flags;
  // Whoever has no profile need not wait for what reads YAML.
  const { joined, readProfile } = await import('../run/read-profile.ts');
  return joined(flags, readProfile(profile));
}

/** Nobody runs a program in the root, and all that the floor stands on is below it. */
function untrustedHere(): readonly string[] {
  return process.cwd() === '/' ? [] : [process.cwd()];
}

/** The home by the environment, and the one of the account. */
function homesOf(): readonly string[] {
  try {
    return [homedir(), userInfo().homedir];
  } catch {
    return [homedir()];
  }
}

function plannedLine({ architecture }: Ground, plan: FilePlan): PlannedLine {
  const signals = heededSignals.map((name) => constants.signals[name]);
  const entry = () => entryProgram(architecture, { rules: lockRules(plan), signals });
  return { ...plan, entry, lineWith: (names) => lineOf(plan, names) };
}

function lineOf(plan: FilePlan, names: readonly string[]): readonly string[] {
  const mounts = plan.mounts.filter(({ path }) => !plan.top.includes(path) || names.includes(path));
  const line = bubblewrapLine({ folder: plan.folder, mounts });
  if (line !== undefined) return line;
  throw new FloorError('there are more names to hold in the working folder than bubblewrap takes; start deeper in it');
}

function showMachine(shell: Shell, output: Parameters<typeof print>[1], { findings: found, ground }: Machine): number {
  const findings = ground === undefined ? found : [...found, examineGroups()];
  const lines = findings.map(({ check, status, detail, advice }) => {
    const mark = { ok: 'ok', warning: 'look', failed: 'MISSING', skipped: 'skipped' }[status];
    return `${mark.padEnd(8)} ${check.padEnd(12)} ${cleanText(detail)}${advice === '' ? '' : `\n${' '.repeat(22)}${advice}`}`;
  });
  const verdict = ground === undefined ? 'There is no floor here.' : 'reeve run works here.';
  print(shell, output, { works: ground !== undefined, findings }, () => [...lines, '', verdict].join('\n'));
  return ground === undefined ? floorExits.refused : 0;
}
