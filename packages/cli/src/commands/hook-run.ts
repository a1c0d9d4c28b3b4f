import type { HookHostName } from '@reeve/contract/names';
import { identityOptions, identityWords } from '../agent-identity/identity-options.ts';
import { resolveAgent } from '../agent-identity/resolve-agent.ts';
import { CliError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, number } from '../command-line/values.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import type { HookReply } from '../hook/hook-host.ts';
import { block, hookLimitSecs } from '../hook/hook-host.ts';
import { ownFiles } from '../own-command.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';

/** What the host needs to take in the answer before its own limit. */
const reserveSecs = 5;
const longestWaitSecs = 86_400;

/** The command that a coding agent runs as its hook. */
export function hookCommand(host: HookHostName) {
  return defineCommand({
    details: [
      `The hook of ${host}: reads one event as JSON on stdin, asks the gateway about everything that the tool would do, and answers in the form of ${host}. "reeve hook install ${host}" sets it up.`,
      'It fails closed: without a gateway, an identity or a readable event, the tool is not used. What waits for an approval is held, then denied with the id of the approval; the same tool use later in the session is allowed once it is approved.',
      'With REEVE_SUBJECT_TOKEN_FILE the agent acts for a user: the file holds their JWT and is read each time. A file that is named and missing, or empty, denies every tool, whatever --fail-open says.',
    ],
    args: {},
    options: {
      ...identityOptions,
      approvalWait: number(
        'SECS',
        `How long to wait for an approval. Default: ${hookLimitSecs - reserveSecs}, the limit that install sets less ${reserveSecs}.`,
        { min: 0, max: longestWaitSecs },
      ),
      failOpen: flag('Let the tool be used if the gateway cannot be asked. Says so on stderr each time.'),
      floor: flag('Have the host run each command of its shell by "reeve run", as this agent. Linux.'),
    },
    examples: [[`reeve hook ${host} < event.json`, 'answer one event']],
    run: async (input, shell) => {
      const { approvalWait = hookLimitSecs - reserveSecs, failOpen, floor, ...flags } = input.options;
      process.once('uncaughtException', (error) => endWith(shell, block(unexpected(error))));
      try {
        const [{ answerHook }, { loadHost }, { readInput }, { machineOf }, subject] = await Promise.all([
          import('../hook/answer-hook.ts'),
          import('../hook/load-host.ts'),
          import('../hook/read-input.ts'),
          import('../hook/machine.ts'),
          import('../agent-identity/subject-token.ts'),
        ]);
        const tokenFile = variable(shell, subject.subjectTokenVariable);
        const folder = reeveFolder(shell);
        const about = { name: host, framework: host };
        const reply = await answerHook(readInput(), {
          host: await loadHost(host),
          folder,
          machine: machineOf(folder, shell.env),
          subjectToken: () => subject.readSubjectToken(tokenFile),
          agent: () => resolveAgent({ shell, globals: input.globals, flags, about, verify: false }),
          // Time counts from the start of the process, as it does for the host.
          waitMs: () => Math.max(0, approvalWait * 1000 - performance.now()),
          failOpen,
          floor: floor ? { program: ownFiles(), flags: identityWords(flags) } : undefined,
        });
        return say(shell, reply);
      } catch (error) {
        return say(shell, block(unexpected(error)));
      }
    },
  });
}

function unexpected(error: unknown): string {
  const reason = error instanceof CliError || error instanceof Error ? error.message : String(error);
  return `Reeve: the hook failed, so nothing was allowed: ${reason}`;
}

function say(shell: Shell, { stdout, stderr, code }: HookReply): number {
  if (stdout !== '') shell.stdout.write(stdout);
  if (stderr !== '') shell.stderr.write(stderr);
  return code;
}

function endWith(shell: Shell, reply: HookReply): void {
  process.exit(say(shell, reply));
}
