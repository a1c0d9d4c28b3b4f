import type { Action } from '../action.ts';

type Input = Readonly<Record<string, unknown>>;

/** Which tools of Claude Code read or write a file, and the member that has its path. */
const files: Readonly<Record<string, readonly [operation: string, member: string]>> = {
  Read: ['read', 'file_path'],
  Write: ['write', 'file_path'],
  Edit: ['write', 'file_path'],
  MultiEdit: ['write', 'file_path'],
  NotebookRead: ['read', 'notebook_path'],
  NotebookEdit: ['write', 'notebook_path'],
};

/** Nothing in such a line is more than words, whatever shell reads it. */
const plainWords = /^[A-Za-z0-9_./@%+,:-]+(?: +[A-Za-z0-9_./@%+,:=-]+)*$/;

/** Programs that run others, named by their arguments or their input. The same ones as those that `reeve hook` follows. */
const runners = new Set(
  (
    '. - aa-exec arch ash at bash batch bind builtin busybox bwrap caffeinate capsh catchsegv choom chpst chroot chrt cmd ' +
    'cmd.exe command compgen complete concurrently coproc coreutils cross-env csh daemonize dash dbus-launch ' +
    'dbus-run-session direnv doas dtruss dumb-init eatmydata elvish enable entr env eval exec expect faketime fakeroot fc ' +
    'find firejail fish flock gdb gosu hyperfine ionice ksh linux32 linux64 lldb ltrace mksh newgrp nice nix-shell ' +
    'nocorrect nodemon noglob nohup nsenter nu numactl parallel perf pkexec powershell powershell.exe prlimit proot ' +
    'proxychains proxychains4 pwsh rbash repeat rlwrap run-parts sandbox-exec screen script sem setarch setpriv setsid ' +
    'setuidgid sg sh softlimit source ssh ssh-agent sshpass start-stop-daemon stdbuf strace su su-exec sudo systemd-run ' +
    'taskset tcsh time timeout tini tmux torsocks toybox trap uclampset unbuffer unshare valgrind watch wsl xargs xcrun ' +
    'xvfb-run yash zsh'
  ).split(' '),
);

/**
 * A use of a tool as what it does, as the hooks of `reeve hook` see it. A command line that is more than words, or that runs
 * another program, is a command `?`, because this package has no parser for shells.
 */
export function claudeAction(tool: string, input: Input): Action {
  const text = (member: string) => (typeof input[member] === 'string' ? input[member] : '');
  const [operation, member = ''] = Object.hasOwn(files, tool) ? (files[tool] ?? []) : [];
  if (operation !== undefined && text(member) !== '') return { type: 'file_operation', operation, path: text(member) };
  if (tool === 'Bash' && text('command') !== '') return commandOf(text('command'));
  if (tool === 'WebFetch' && URL.canParse(text('url'))) return fetchOf(new URL(text('url')));
  if (tool === 'Task' || tool === 'Agent') return { type: 'agent_spawn', command: text('subagent_type') || tool };
  const [, source, name] = /^mcp__(.+?)__(.+)$/s.exec(tool) ?? [];
  return name === undefined ? { tool, args: input } : { tool: name, source, args: input };
}

function commandOf(line: string): Action {
  const trimmed = line.trim();
  const [command = '', ...args] = trimmed.split(/ +/);
  if (!plainWords.test(trimmed) || runners.has(command.slice(command.lastIndexOf('/') + 1)))
    return { type: 'process_exec', command: '?', args: [line] };
  return { type: 'process_exec', command, args };
}

function fetchOf({ hostname, port, protocol }: URL): Action {
  const scheme = protocol.replace(':', '');
  const byDefault = scheme === 'https' ? 443 : 80;
  return { type: 'network_call', host: hostname, port: port === '' ? byDefault : Number(port), protocol: scheme };
}
