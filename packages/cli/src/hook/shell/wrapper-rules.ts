import type { WrapperName } from '@reeve/sdk/carriers';
import { opaqueNames, otherShellNames, shellNames } from '@reeve/sdk/carriers';
import type { OptionRule } from './options-of-command.ts';

/** A command that runs another one, which its operands name. */
export interface WrapperRule extends OptionRule {
  /** Operands before the command. */
  readonly before?: number;
  /** Whether `NAME=value` may come before the command. */
  readonly takesAssignments?: true;
  /** With one of these options it runs nothing. */
  readonly unless?: readonly string[];
  /** The option whose value is a text for a shell. */
  readonly shellText?: readonly string[];
  /** Joins its operands to a text for a shell. With one of `unless…` of its own, it does not. */
  readonly joins?: true;
  /** Without a command it starts a shell that reads its standard input. With one, it gives it to a shell. */
  readonly startsShell?: true;
  /** Without a command it starts a shell that reads its standard input. With one, it runs it. */
  readonly isShellAlone?: true;
  /** What it runs is in another folder, or with these options. */
  readonly moves?: readonly string[] | true;
}

const plain: WrapperRule = {};
const afterOne: WrapperRule = { before: 1 };

const rules: Readonly<Record<WrapperName, WrapperRule>> = {
  sudo: {
    flags: 'AbBEeHiKklnPSsVv',
    valued: 'CDghpRrTtUu',
    longFlags:
      'askpass background bell preserve-env edit set-home login remove-timestamp reset-timestamp list non-interactive preserve-groups stdin shell validate'.split(
        ' ',
      ),
    longValued: 'close-from chdir group host prompt chroot role command-timeout type other-user user'.split(' '),
    takesAssignments: true,
    moves: ['D', 'chdir', 'R', 'chroot', 'i', 'login'],
  },
  doas: { flags: 'Lns', valued: 'aCu' },
  env: {
    flags: 'i0v',
    valued: 'uCS',
    longFlags: ['ignore-environment', 'null', 'debug'],
    longValued: ['unset', 'chdir', 'split-string'],
    takesAssignments: true,
    moves: ['C', 'chdir'],
  },
  nohup: plain,
  builtin: plain,
  noglob: plain,
  nocorrect: plain,
  '-': plain,
  busybox: plain,
  toybox: plain,
  fakeroot: { isShellAlone: true },
  unbuffer: plain,
  torsocks: plain,
  proxychains: plain,
  proxychains4: plain,
  eatmydata: plain,
  catchsegv: plain,
  'dbus-run-session': plain,
  tini: plain,
  'dumb-init': plain,
  'ssh-agent': plain,
  'dbus-launch': plain,
  'xvfb-run': plain,
  'aa-exec': plain,
  'sandbox-exec': plain,
  'cross-env': { takesAssignments: true },
  'cross-env-shell': { takesAssignments: true, joins: true },
  valgrind: plain,
  perf: afterOne,
  entr: plain,
  direnv: { before: 2 },
  firejail: plain,
  bwrap: plain,
  proot: plain,
  chpst: plain,
  softlimit: plain,
  choom: plain,
  uclampset: plain,
  rlwrap: plain,
  sshpass: plain,
  arch: plain,
  xcrun: plain,
  dtruss: plain,
  setuidgid: afterOne,
  faketime: afterOne,
  ifne: { flags: 'n' },
  chronic: plain,
  'systemd-inhibit': plain,
  nocache: plain,
  tsocks: plain,
  runcon: plain,
  cgexec: plain,
  envuidgid: afterOne,
  setlock: afterOne,
  i386: { isShellAlone: true },
  x86_64: { isShellAlone: true },
  caffeinate: { flags: 'disum', valued: 'tw' },
  'systemd-run': {
    flags: 'tPqrd',
    valued: 'puMHE',
    longFlags: ['user', 'scope', 'pipe', 'pty', 'wait', 'quiet', 'collect'],
    moves: true,
  },
  unshare: { flags: 'fimnpruUCT', isShellAlone: true },
  nsenter: { flags: 'aFZ', valued: 'tSGe', isShellAlone: true, moves: true },
  setpriv: plain,
  prlimit: plain,
  numactl: plain,
  pkexec: { longValued: ['user'], longFlags: ['disable-internal-agent', 'keep-cwd'] },
  command: { flags: 'pvV', unless: ['v', 'V'] },
  exec: { flags: 'cl', valued: 'a' },
  timeout: {
    flags: 'fpv',
    valued: 'ks',
    longFlags: ['foreground', 'preserve-status', 'verbose'],
    longValued: ['kill-after', 'signal'],
    before: 1,
  },
  nice: { flags: '0123456789', valued: 'n', longValued: ['adjustment'] },
  ionice: { flags: 't', valued: 'cnpPu', longValued: ['class', 'classdata', 'pid'], longFlags: ['ignore'] },
  setsid: { flags: 'cfw', longFlags: ['ctty', 'fork', 'wait'] },
  stdbuf: { valued: 'ioe', longValued: ['input', 'output', 'error'] },
  time: {
    flags: 'apqvV',
    valued: 'fo',
    longFlags: ['append', 'portability', 'quiet', 'verbose'],
    longValued: ['format', 'output'],
  },
  chroot: { before: 1, isShellAlone: true, moves: true, longValued: ['userspec', 'groups'], longFlags: ['skip-chdir'] },
  gosu: afterOne,
  'su-exec': afterOne,
  setarch: { before: 1, isShellAlone: true },
  linux32: { isShellAlone: true },
  linux64: { isShellAlone: true },
  repeat: afterOne,
  taskset: { flags: 'ac', before: 1, longFlags: ['all-tasks', 'cpu-list'] },
  chrt: { flags: 'bfiordamv', valued: 'TPD', before: 1 },
  strace: { flags: 'cCdDfFhiknqrtTvVwxyYzZ', valued: 'abeEIoOpPsSuUX' },
  ltrace: { flags: 'bcCfhiLrStTV', valued: 'aAeFlnopsuwxX' },
  watch: {
    flags: 'bcCdegprtwx',
    valued: 'nqs',
    longFlags: 'beep color no-color differences errexit chgexit precise no-rerun no-title no-wrap exec'.split(' '),
    longValued: ['interval', 'equexit', 'shotsdir'],
    joins: true,
  },
  flock: {
    flags: 'snexuFov',
    valued: 'wEc',
    longFlags: 'shared exclusive unlock nonblock nb close no-fork verbose'.split(' '),
    longValued: ['wait', 'timeout', 'conflict-exit-code', 'command'],
    before: 1,
    shellText: ['c', 'command'],
  },
  script: {
    flags: 'aefq',
    valued: 'cIOoTtmEB',
    longFlags: ['append', 'return', 'flush', 'force', 'quiet'],
    longValued: ['command', 'log-in', 'log-out', 'log-io', 'log-timing', 'logging-format', 'output-limit', 'echo'],
    shellText: ['c', 'command'],
    startsShell: true,
    before: 1,
  },
  xargs: {
    flags: '0rtpxo',
    valued: 'IndPLsEa',
    attached: 'ile',
    longFlags: 'null no-run-if-empty verbose interactive exit open-tty show-limits replace max-lines eof'.split(' '),
    longValued: 'max-args delimiter max-procs max-chars arg-file replace max-lines eof'.split(' '),
  },
};

export function wrapperRule(name: string): WrapperRule | undefined {
  return Object.hasOwn(rules, name) ? rules[name as WrapperName] : undefined;
}

export const shells: ReadonlySet<string> = new Set(shellNames);

/** Shells and interpreters whose language is not read here. They take a program from standard input, or as an option. */
export const otherShells: ReadonlySet<string> = new Set(otherShellNames);

/** Builtins and programs that run what is not on their own line. */
export const opaque: ReadonlySet<string> = new Set(opaqueNames);
