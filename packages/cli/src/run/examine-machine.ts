import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Finding } from '../doctor/finding.ts';
import { failed, ok } from '../doctor/finding.ts';
import { versionProgram } from './entry/entry-program.ts';
import { FloorError } from './floor-error.ts';
import { findProgram } from './jail/find-program.ts';
import { jailed } from './jail/jailed.ts';
import { landlockFinding, usable } from './landlock/examine-landlock.ts';
import { floorFilter, isKnownArchitecture } from './seccomp/filter.ts';
import type { Architecture } from './seccomp/system-calls.ts';

/** What the floor stands on. */
export interface Ground {
  readonly bubblewrap: string;
  readonly architecture: Architecture;
  readonly filter: () => Buffer;
}

/** What has held a jail. */
export interface ProvenGround extends Ground {
  /** The version of Landlock that can be used. */
  readonly landlock: number | undefined;
}

export interface Machine {
  readonly findings: readonly Finding[];
  /** Undefined if something that the floor needs is missing. */
  readonly ground: ProvenGround | undefined;
}

interface Looked {
  readonly findings: readonly Finding[];
  readonly ground: Ground | undefined;
}

/** What can be seen without a jail. */
function lookAt(path: string, untrusted: readonly string[]): Looked {
  if (process.platform !== 'linux') {
    return { findings: [failed('system', process.platform, 'The floor stands on Linux alone.')], ground: undefined };
  }
  if (!isKnownArchitecture(process.arch)) {
    return { findings: [failed('seccomp', process.arch, 'There are filters for x64 and arm64.')], ground: undefined };
  }
  const bubblewrap = findProgram('bwrap', path, untrusted);
  const beside = [seccomp(), processList()];
  if (bubblewrap === undefined) {
    const missing = failed('bubblewrap', 'no bwrap in the PATH', 'Install bubblewrap ("apt-get install bubblewrap").');
    return { findings: [missing, ...beside], ground: undefined };
  }
  const architecture = process.arch;
  const ground = { bubblewrap, architecture, filter: () => floorFilter(architecture) };
  return { findings: beside, ground };
}

/** Finds out what this machine offers. The proof is a jail that is made and left at once, by a first program under the filter. */
export async function examineMachine(path: string, untrusted: readonly string[]): Promise<Machine> {
  const { findings: beside, ground } = lookAt(path, untrusted);
  if (ground === undefined) {
    const isLinux = beside.length > 1;
    return { findings: isLinux ? [...beside, landlockFinding(undefined)] : beside, ground };
  }
  const { bubblewrap, architecture, filter } = ground;
  const { status, stderr } = await jailed(bubblewrap, filter(), versionProgram(architecture));
  // The kernel answers with a version or an error, and never with nothing.
  const landlock = stderr === '' && status !== null && status > 0 ? status : undefined;
  const why = stderr.split('\n').at(-1) || `bwrap ended with ${status ?? 'a signal'}`;
  const findings = [
    ok('bubblewrap', `${versionOf(bubblewrap)} at ${bubblewrap}`),
    landlock === undefined
      ? failed('namespaces', why, adviceFor(why))
      : ok('namespaces', 'user, mount, pid, network, ipc, uts, cgroup'),
    ...beside,
    landlockFinding(landlock),
  ];
  return { findings, ground: isWhole(findings) ? { ...ground, landlock: usable(landlock) } : undefined };
}

/** What a jail can be made of here. Throws with what is missing, as far as that can be seen without one. */
export function requireGround(path: string, untrusted: readonly string[]): Ground {
  const { findings, ground } = lookAt(path, untrusted);
  if (ground !== undefined && isWhole(findings)) return ground;
  throw noFloor(findings);
}

/** The same, with the proof. */
export async function requireProof(path: string, untrusted: readonly string[]): Promise<ProvenGround> {
  const { ground, findings } = await examineMachine(path, untrusted);
  if (ground !== undefined) return ground;
  throw noFloor(findings);
}

function isWhole(findings: readonly Finding[]): boolean {
  return findings.every((finding) => finding.status !== 'failed');
}

function noFloor(findings: readonly Finding[]): FloorError {
  const missing = findings.filter(({ status }) => status === 'failed').slice(0, 1);
  const why = missing.map(({ check, detail, advice }) => `: ${check}: ${detail}. ${advice}`).join('');
  return new FloorError(`there is no floor on this machine${why}`);
}

function versionOf(bubblewrap: string): string {
  const { stdout } = spawnSync(bubblewrap, ['--version'], { encoding: 'utf8', env: {} });
  return stdout.trim().split(' ').at(-1) ?? '';
}

function adviceFor(why: string): string {
  if (/unknown option/i.test(why)) return 'Install bubblewrap 0.8 or newer.';
  if (valueOf('/proc/sys/kernel/unprivileged_userns_clone') === '0') {
    return 'User namespaces are switched off: sysctl kernel.unprivileged_userns_clone=1.';
  }
  if (valueOf('/proc/sys/user/max_user_namespaces') === '0') {
    return 'User namespaces are switched off: sysctl user.max_user_namespaces=10000.';
  }
  if (valueOf('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1') {
    return 'AppArmor keeps user namespaces from bubblewrap: give it a profile that allows userns.';
  }
  return 'The kernel or a container around this one refuses what bubblewrap needs.';
}

function seccomp(): Finding {
  const actions = valueOf('/proc/sys/kernel/seccomp/actions_avail') ?? '';
  if (actions.includes('errno') && actions.includes('kill_process'))
    return ok('seccomp', `filters for ${process.arch}`);
  return failed('seccomp', 'the kernel has no filters', 'Use a kernel with CONFIG_SECCOMP_FILTER.');
}

/** Processes are frozen by what the kernel lists. A list with holes proves nothing. */
function processList(): Finding {
  const options = (valueOf('/proc/self/mountinfo') ?? '').split('\n').filter((line) => line.split(' ')[4] === '/proc');
  if (options.some((line) => /hidepid=(?!0\b|off\b)/.test(line))) {
    return failed('processes', '/proc hides processes', 'Mount /proc without hidepid.');
  }
  return ok('freezing', 'by stopping every process of the pid namespace');
}

function valueOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}
