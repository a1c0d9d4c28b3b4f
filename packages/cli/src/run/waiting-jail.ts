import { lstatSync } from 'node:fs';
import type { Cgroup } from './cgroup/cgroup.ts';
import { mountedIn } from './jail/mounted-in.ts';
import type { FilePlan } from './jail/plan-files.ts';
import type { InsideSockets, Jail, JailRequest } from './jail/start-jail.ts';
import { startJail } from './jail/start-jail.ts';
import { stillHolds } from './jail/still-holds.ts';
import { makeNames, takeNamesAway } from './jail/top-names.ts';
import { Keeper } from './keeper.ts';

export interface PlannedLine extends Pick<FilePlan, 'folder' | 'mounts' | 'top' | 'topFiles'> {
  /** The words of bubblewrap, once these names are there to be mounted on. */
  readonly lineWith: (names: readonly string[]) => readonly string[];
  /** The first program inside. */
  readonly entry: () => Buffer;
}

export type WaitingRequest = Omit<JailRequest, 'line' | 'entry'>;

export interface ReadyJail {
  readonly jail: Jail;
  readonly keeper: Keeper;
  readonly sockets: InsideSockets;
}

/** A jail in which the program waits to begin, and the names that it stands on. */
export class WaitingJail {
  /** Once nothing but the program is left to be started. Rejects if that cannot be. */
  readonly ready: Promise<ReadyJail>;
  readonly #line: PlannedLine;
  readonly #names: readonly string[];
  readonly #started: Promise<Jail>;

  constructor(request: WaitingRequest, line: PlannedLine, cgroup: Promise<Cgroup | undefined>) {
    this.#line = line;
    this.#names = makeNames(line.top, line.topFiles);
    this.#started = this.#start(request);
    this.ready = this.#made(cgroup);
    this.ready.catch(() => {});
  }

  /** Whatever fails here, the names are there already, and are taken away by `leave`. */
  async #start(request: WaitingRequest): Promise<Jail> {
    return startJail({ ...request, line: this.#line.lineWith(this.#names), entry: this.#line.entry });
  }

  async #made(makingGroup: Promise<Cgroup | undefined>): Promise<ReadyJail> {
    const jail = await this.#started;
    try {
      const cgroup = await makingGroup;
      const keeper = new Keeper(jail, cgroup);
      // Before it is made to its end, so that all that the program starts is in the group.
      await cgroup?.take(jail.first);
      jail.build();
      const sockets = await jail.ready;
      keeper.knowProgram();
      return { jail, keeper, sockets };
    } catch (error) {
      jail.kill();
      throw error;
    }
  }

  /** Whether it holds all that a plan would hold that is made now, when it is ready. */
  holds({ jail }: ReadyJail, { folder, mounts }: FilePlan): boolean {
    const made = { folder: this.#line.folder, mounts: mountedIn(jail.first, this.#line.mounts) };
    return stillHolds(made, { folder, mounts: mounts.filter(({ path }) => !this.#cannotBe(path)) });
  }

  /** Whether who starts the program cannot make it, so that the program cannot either. */
  #cannotBe(path: string): boolean {
    const couldNot = this.#line.top.includes(path) && !this.#names.includes(path);
    return couldNot && lstatSync(path, { throwIfNoEntry: false }) === undefined;
  }

  /** Ends it, whatever it has come to, and takes away what it stood on. */
  async leave(): Promise<void> {
    try {
      const jail = await this.#started;
      jail.kill();
      await jail.ended;
    } catch {
      // It was never made.
    }
    try {
      takeNamesAway(this.#names, this.#line.topFiles);
    } catch {
      // Without descriptors nobody knows whether another run stands on them. A later one takes them away.
    }
  }
}
