import { lstatSync } from 'node:fs';
import type { Cgroup } from './cgroup/cgroup.ts';
import { FolderRuns } from './jail/folder-runs.ts';
import { mountedIn } from './jail/mounted-in.ts';
import type { FilePlan } from './jail/plan-files.ts';
import { filesAmong, namesAtTop } from './jail/protected-names.ts';
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
  readonly #runs: FolderRuns;
  #names: readonly string[] = [];
  readonly #started: Promise<Jail>;

  constructor(request: WaitingRequest, line: PlannedLine, cgroup: Promise<Cgroup | undefined>) {
    this.#line = line;
    this.#runs = new FolderRuns(line.folder);
    this.#started = this.#start(request);
    this.ready = this.#made(cgroup);
    this.ready.catch(() => {});
  }

  /** Whatever fails here, names may be there already, and are taken away by `leave`. */
  #start(request: WaitingRequest): Promise<Jail> {
    const { top, topFiles, lineWith, entry } = this.#line;
    return this.#runs.enter(() => {
      this.#names = makeNames(top, topFiles);
      return startJail({ ...request, line: lineWith(this.#names), entry });
    });
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
      await this.#runs.leave(() => this.#takeNamesAway());
    } catch {
      // Without descriptors nobody knows whether another run stands on them. A later one takes them away.
    }
  }

  /** Those of others as well, who could leave none of them while this one was here. */
  #takeNamesAway(): void {
    const { folder, top, topFiles } = this.#line;
    const names = [...new Set([...top, ...namesAtTop(folder)])];
    takeNamesAway(names, new Map([...topFiles, ...filesAmong(folder, names)]));
  }
}
