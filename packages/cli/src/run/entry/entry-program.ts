import { descriptors, entryPath } from '../jail/bubblewrap-line.ts';
import type { LockRule } from '../landlock/lock-steps.ts';
import { askVersion, lockSteps } from '../landlock/lock-steps.ts';
import type { Architecture } from '../seccomp/system-calls.ts';
import { executable, ProgramData } from './executable.ts';
import { handOver } from './hand-over.ts';
import type { Step } from './steps.ts';
import { unlessDone } from './unless-done.ts';

export interface Entry {
  /** What the second lock allows, where the kernel has one. */
  readonly rules: readonly LockRule[];
  /** The numbers of signals that were ignored up to here, and that the program gets as usual. */
  readonly signals: readonly number[];
}

const fromHere = -100;
const bytesOfMask = 8;

/**
 * The first program in the jail: locks itself up by Landlock, listens for the proxy and hands the sockets over, lets signals
 * through again, and becomes the program that its arguments name. Node has no way to make most of these calls, few machines
 * have a program that does, and to start one would take longer than all else.
 */
export function entryProgram(architecture: Architecture, { rules, signals }: Entry): Buffer {
  const data = new ProgramData();
  const usual = data.add(Buffer.alloc(32));
  const steps: readonly Step[] = [
    { do: 'call', name: 'unlinkat', args: [fromHere, data.text(entryPath), 0] },
    ...lockSteps(rules, data),
    ...handOver(descriptors.handover, data, unlessDone('the sockets of the proxy cannot be made', data)),
    ...signals.map((number): Step => ({ do: 'call', name: 'rt_sigaction', args: [number, usual, 0, bytesOfMask] })),
    { do: 'become' },
    unlessDone('the shell cannot be started', data),
  ];
  return executable(architecture, steps, data);
}

/** A program that ends with the version of Landlock, or with 256 less the number of the error. */
export function versionProgram(architecture: Architecture): Buffer {
  return executable(architecture, [askVersion, { do: 'end with result' }], new ProgramData());
}
