import { readdirSync, readFileSync } from 'node:fs';
import { KeptFile } from './kept-file.ts';
import { unlessGone } from './unless-gone.ts';

/** A process as the kernel lists it. Number and start together name it for good: numbers are used again. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** The group of processes that it belongs to. */
  readonly group: number;
  readonly start: string;
  /** What its first thread does, by the kernel's letter. */
  readonly state: string;
  readonly threads: number;
  /** Whether it is over, and nobody has asked yet how it ended. */
  readonly isOver: boolean;
}

/**
 * The first process of a pid namespace, and all below it, parents first. That is the whole namespace: what loses its
 * parent there falls to its first process, and nothing enters from outside. Empty once the first process is gone.
 */
export function processesBelow(first: number): readonly ProcessEntry[] {
  const children = new Map<number, ProcessEntry[]>();
  let top: ProcessEntry | undefined;
  for (const entry of processTable()) {
    if (entry.pid === first) top = entry;
    const siblings = children.get(entry.parent);
    if (siblings === undefined) children.set(entry.parent, [entry]);
    else siblings.push(entry);
  }
  if (top === undefined) return [];
  const found = [top];
  for (const entry of found) found.push(...(children.get(entry.pid) ?? []));
  return found;
}

/** The first child of a process. Not all kernels list children by themselves; to look for them among all takes long. */
export function childOf(pid: number): number | undefined {
  const listed = textOf(`/proc/${pid}/task/${pid}/children`)?.split(' ')[0];
  if (listed !== undefined && listed !== '') return Number(listed);
  return processesBelow(pid).find(({ parent }) => parent === pid)?.pid;
}

/** The number that the kernel gave last. To ask costs the same however many processes there are. */
export function newestProcess(): number {
  return Number(textOf('/proc/loadavg')?.trimEnd().split(' ').at(-1));
}

/** The processes below `first` that have a number above `after`, up to `last`. Without the others being listed. */
export function newProcessesBelow(first: number, after: number, last: number): readonly ProcessEntry[] {
  const found: ProcessEntry[] = [];
  for (let pid = after + 1; pid <= last; pid++) {
    const entry = shownEntry(pid);
    if (entry !== undefined && isBelow(entry, first)) found.push(entry);
  }
  return found;
}

function isBelow(entry: ProcessEntry, first: number): boolean {
  for (let above: ProcessEntry | undefined = entry; above !== undefined; above = shownEntry(above.parent)) {
    if (above.parent === first) return true;
  }
  return false;
}

function processTable(): readonly ProcessEntry[] {
  return readdirSync('/proc').flatMap((name) => {
    const entry = /^\d+$/.test(name) ? shownEntry(Number(name)) : undefined;
    return entry === undefined ? [] : [entry];
  });
}

/** Some machines hide the processes of others. */
function shownEntry(pid: number): ProcessEntry | undefined {
  try {
    return processEntry(pid);
  } catch (error) {
    if (['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

export function processEntry(pid: number): ProcessEntry | undefined {
  return entryIn(pid, textOf(`/proc/${pid}/stat`));
}

/** Asks about one process, also when no descriptor is left. What gets its number later is not meant. */
export function followProcess(pid: number): () => ProcessEntry | undefined {
  const file = new KeptFile(`/proc/${pid}/stat`, 'r');
  return () => entryIn(pid, file.read());
}

function entryIn(pid: number, text: string | undefined): ProcessEntry | undefined {
  if (text === undefined) return undefined;
  const fields = statFields(text);
  const [state = '', parent, group] = fields;
  const threads = Number(fields[17]);
  // The first thread of a program can be over while others run on.
  const isOver = isOverState(state) && threads <= 1;
  return { pid, parent: Number(parent), group: Number(group), start: fields[19] ?? '', state, threads, isOver };
}

/**
 * Whether the kernel lets no thread of it run: all are stopped or over. A thread that waits within the kernel and has a
 * stop pending does not come back to its program either.
 */
export function isHeld({ pid, state: ofFirst, threads }: ProcessEntry): boolean {
  // A thousand processes are looked at many times, and most have one thread.
  if (threads === 1 && ofFirst !== 'D') return ofFirst === 'T' || isOverState(ofFirst);
  return threadsOf(pid).every((thread) => {
    const text = textOf(`/proc/${pid}/task/${thread}/stat`);
    if (text === undefined) return true;
    const [state] = statFields(text);
    if (state === 'T' || isOverState(state)) return true;
    return state === 'D' && hasStopPending(pid, thread);
  });
}

function threadsOf(pid: number): readonly string[] {
  return unlessGone(() => readdirSync(`/proc/${pid}/task`)) ?? [];
}

function isOverState(state: string | undefined): boolean {
  return state === 'Z' || state === 'X';
}

const stopBit = 1n << 18n;

function hasStopPending(pid: number, thread: string): boolean {
  const status = textOf(`/proc/${pid}/task/${thread}/status`) ?? '';
  return [...status.matchAll(/^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$/gm)].some(
    ([, mask = '0']) => (BigInt(`0x${mask}`) & stopBit) !== 0n,
  );
}

/** The fields after the name, which may contain anything: state, parent and so on. */
function statFields(text: string): readonly string[] {
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function textOf(path: string): string | undefined {
  return unlessGone(() => readFileSync(path, 'latin1'));
}
