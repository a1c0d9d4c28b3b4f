import { floorExits } from '../floor-error.ts';
import { lockPath } from '../jail/bubblewrap-line.ts';
import type { Architecture } from '../seccomp/system-calls.ts';
import { executable, ProgramData } from './executable.ts';
import type { Use } from './rights.ts';
import { handledRights, handledScopes, rightsFor } from './rights.ts';
import type { Step } from './steps.ts';

/** A path inside, and what it may be used for. All that no rule allows is refused. */
export interface LockRule {
  readonly path: string;
  readonly use: Use;
  readonly isFolder: boolean;
  /** Without this rule the program would not work, so it does not start. */
  readonly isNeeded: boolean;
}

const fromHere = -100;
const pathAndCloseOnExec = 0x28_0000n;
const noLinks = 4n;
const ruleBeneathPath = 1;
const askVersion = 1;
const standardError = 2;
const streams = ['/proc/self/fd/0', '/proc/self/fd/1', '/proc/self/fd/2'];
const message = 'reeve run: the kernel refuses the second lock on files (Landlock)\n';

/**
 * A program that locks itself up by Landlock and becomes the one that its arguments name. Node has no way to make these
 * calls, and few machines have a program that does.
 */
export function lockProgram(architecture: Architecture, version: number, rules: readonly LockRule[]): Buffer {
  const data = new ProgramData();
  const said = data.text(message);
  const fail: Step = {
    do: 'if error',
    steps: [
      { do: 'call', name: 'write', args: [standardError, said, message.length] },
      { do: 'call', name: 'exit_group', args: [floorExits.refused] },
    ],
  };
  const ruleset = data.add(numbers([handledRights(version), 0n, handledScopes(version)]));
  const strictly = data.add(numbers([pathAndCloseOnExec, 0n, noLinks]));
  const byLinks = data.add(numbers([pathAndCloseOnExec, 0n, 0n]));
  const allow = (path: string, how: number, allowed: bigint, orElse: readonly Step[]): readonly Step[] => {
    const rule = data.add(numbers([allowed, 0n]));
    return [
      { do: 'call', name: 'openat2', args: [fromHere, data.text(path), how, 24] },
      ...orElse,
      {
        do: 'unless error',
        steps: [
          { do: 'keep', as: 'opened' },
          { do: 'store', kept: 'opened', address: rule + 8 },
          { do: 'call', name: 'landlock_add_rule', args: [{ kept: 'ruleset' }, ruleBeneathPath, rule, 0] },
          ...orElse,
          { do: 'call', name: 'close', args: [{ kept: 'opened' }] },
        ],
      },
    ];
  };
  const steps: readonly Step[] = [
    { do: 'call', name: 'unlinkat', args: [fromHere, data.text(lockPath), 0] },
    { do: 'call', name: 'landlock_create_ruleset', args: [ruleset, 24, 0] },
    fail,
    { do: 'keep', as: 'ruleset' },
    ...rules.flatMap(({ path, use, isFolder, isNeeded }) =>
      allow(path, strictly, rightsFor(use, isFolder, version), isNeeded ? [fail] : []),
    ),
    // A terminal or a named pipe can be opened again by the descriptor that a program has anyway. Others need no rule.
    ...streams.flatMap((path) => allow(path, byLinks, rightsFor('change', false, version), [])),
    { do: 'call', name: 'landlock_restrict_self', args: [{ kept: 'ruleset' }, 0] },
    fail,
    { do: 'become' },
    fail,
  ];
  return executable(architecture, steps, data);
}

/** A program that ends with the version of Landlock, or with 256 less the number of the error. */
export function versionProgram(architecture: Architecture): Buffer {
  const steps: readonly Step[] = [
    { do: 'call', name: 'landlock_create_ruleset', args: [0, 0, askVersion] },
    { do: 'end with result' },
  ];
  return executable(architecture, steps, new ProgramData());
}

function numbers(values: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(value, index * 8);
  return bytes;
}
