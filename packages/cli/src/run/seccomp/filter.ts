import type { Instruction } from './bpf.ts';
import {
  and,
  answer,
  assemble,
  loadArchitecture,
  loadArgument,
  loadCall,
  loadUpperHalf,
  unless,
  verdicts,
  when,
} from './bpf.ts';
import type { Architecture } from './system-calls.ts';
import { absentCalls, architectures, firstUnknownCall, judgedCalls, numberOf, refusedCalls } from './system-calls.ts';

const notPermitted = answer(verdicts.error(1));
const notImplemented = answer(verdicts.error(38));
const familyNotSupported = answer(verdicts.error(97));
const allowed = answer(verdicts.allow);

const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;
const socketTypeMask = 0xf;
const rawSocket = 3;
const packetSocket = 10;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const newNamespaces = 0x7e02_0000;
/** CLONE_PARENT. What ends must fall to the first process of the namespace, which the freezer counts on. */
const asSibling = 0x8000;
/** As a flag of `unshare` alone; for `clone` the bit belongs to the signal. */
const newTimeNamespace = 0x80;

/** Ways to put words or keys into the terminal of the person, or to take over the console. */
const refusedTerminalCalls = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c, TIOCCONS: 0x541d, TIOCSETD: 0x5423 } as const;

const signals = { kill: 9, continue: 18, stop: 19 } as const;
const setSignal = 10;
const setSignalOfParentsDeath = 1;
/** PR_SET_CHILD_SUBREAPER, refused for the same reason as CLONE_PARENT. */
const adoptOrphans = 36;

/** The rules for calls that depend on arguments. Each ends with an answer. */
const judges: Readonly<Record<keyof typeof judgedCalls, readonly Instruction[]>> = {
  clone: [loadArgument(0), ...when('has a bit of', newNamespaces | asSibling, [notPermitted]), allowed],
  unshare: [loadArgument(0), ...when('has a bit of', newNamespaces | newTimeNamespace, [notPermitted]), allowed],
  ioctl: [
    loadArgument(1),
    ...Object.values(refusedTerminalCalls).flatMap((call) => when('equals', call, [notPermitted])),
    allowed,
  ],
  socket: [
    loadArgument(0),
    ...when('equals', families.unix, [allowed]),
    ...when('equals', families.netlink, [allowed]),
    ...unless('equals', families.inet, [...unless('equals', families.inet6, [familyNotSupported])]),
    loadArgument(1),
    and(socketTypeMask),
    ...when('equals', rawSocket, [notPermitted]),
    ...when('equals', packetSocket, [notPermitted]),
    allowed,
  ],
  socketpair: [loadArgument(0), ...when('equals', families.unix, [allowed]), familyNotSupported],
  // On a terminal the program shares the group of its keeper, which it must not stop.
  kill: [
    loadArgument(0),
    ...when('equals', 0, [loadArgument(1), ...when('equals', signals.stop, [notPermitted])]),
    allowed,
  ],
  pidfd_send_signal: [loadArgument(3), ...when('equals', 0, [allowed]), notPermitted],
  // Ways to have the kernel continue a stopped program, also by the death of another, which orphans its group. A timer names its signal where the filter cannot look.
  timer_create: [
    loadArgument(1),
    ...when('equals', 0, [loadUpperHalf(1), ...when('equals', 0, [allowed])]),
    notImplemented,
  ],
  fcntl: refuseSignals(1, setSignal, [signals.continue, signals.kill]),
  prctl: [
    loadArgument(0),
    ...when('equals', adoptOrphans, [notPermitted]),
    ...refuseSignals(0, setSignalOfParentsDeath, [signals.continue]),
  ],
};

/** Refuses an operation whose next argument is one of these signals. */
function refuseSignals(index: number, operation: number, refused: readonly number[]): readonly Instruction[] {
  const refuse = [loadArgument(index + 1), ...refused.flatMap((name) => when('equals', name, [notPermitted]))];
  return [loadArgument(index), ...when('equals', operation, refuse), allowed];
}

/** The filter of the floor, for `bwrap --seccomp`. */
export function floorFilter(architecture: Architecture): Buffer {
  const each = (calls: Parameters<typeof numbersOf>[0], verdict: Instruction) =>
    numbersOf(calls, architecture).flatMap(([, number]) => when('equals', number, [verdict]));
  return assemble([
    loadArchitecture,
    ...unless('equals', architectures[architecture].audit, [answer(verdicts.killProcess)]),
    loadCall,
    // The calls of x32 have a bit above all numbers.
    ...when('at least', firstUnknownCall, [notImplemented]),
    ...each(refusedCalls, notPermitted),
    ...each(absentCalls, notImplemented),
    ...numbersOf(judgedCalls, architecture).flatMap(([name, number]) => when('equals', number, judges[name])),
    allowed,
  ]);
}

function numbersOf<Name extends string>(
  calls: Readonly<Record<Name, Parameters<typeof numberOf>[0]>>,
  architecture: Architecture,
): readonly (readonly [Name, number])[] {
  return (Object.keys(calls) as Name[]).flatMap((name) => {
    const number = numberOf(calls[name], architecture);
    return number === undefined ? [] : [[name, number] as const];
  });
}

export function isKnownArchitecture(name: string): name is Architecture {
  return Object.hasOwn(architectures, name);
}
