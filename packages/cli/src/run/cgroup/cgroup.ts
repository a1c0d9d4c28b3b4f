import { accessSync, constants, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FloorError } from '../floor-error.ts';
import { enableControllers } from './enable-controllers.ts';
import type { Hierarchy } from './hierarchies.ts';
import { ownHierarchies } from './hierarchies.ts';
import { killerOf, removeGroup } from './group-files.ts';
import { nameOfRun, removeLeftovers } from './leftovers.ts';
import type { LimitName, Limits, Setting } from './limits.ts';
import { controllers, settingsOf } from './limits.ts';

const roundMs = 5;
const mostRounds = 200;

/** A control group for one run, in as many trees as it takes. */
export class Cgroup implements AsyncDisposable {
  readonly #folders = new Map<Hierarchy, string>();
  readonly #disable: (() => void)[] = [];
  readonly #settings: Setting[] = [];
  readonly #killers = new Map<string, () => void>();

  /**
   * Makes one below the group of this process, so that what limits this process limits the program, too. Undefined if this
   * user may make none. Throws if a limit asks for one that cannot be had.
   */
  static make(limits: Limits): Cgroup | undefined {
    const all = ownHierarchies();
    for (const { folder } of all) removeLeftovers(folder);
    const group = new Cgroup();
    try {
      const freezing = all.find(
        (each) => (each.version === 2 || each.controllers.includes('freezer')) && group.#join(each),
      );
      for (const [name, value] of Object.entries(limits) as [LimitName, number | undefined][]) {
        if (value !== undefined && !all.some((each) => group.#limit(each, name, value))) throw noGroup(name);
      }
      return freezing === undefined && group.#folders.size === 0 ? undefined : group;
    } catch (error) {
      group.#remove();
      throw error;
    }
  }

  /** Whether one can be had with these limits, and where it freezes. It is removed at once. */
  static tried(limits: Limits): { readonly version: 1 | 2 | undefined } | undefined {
    try {
      const group = Cgroup.make(limits);
      if (group === undefined) return undefined;
      const version = group.freezing?.version;
      group.#remove();
      return { version };
    } catch {
      return undefined;
    }
  }

  /**
   * Before the kernel moves a process from group to group, it waits until all processors have heard of it, unless another move
   * was just before. This one moves this process to where it is, and the wait is over when `take` comes.
   */
  async prepare(): Promise<void> {
    const [own] = this.#folders.keys();
    // Where this process has stepped aside, it must not step back.
    if (own === undefined || this.#disable.length > 0) return;
    await writeFile(join(own.folder, 'cgroup.procs'), String(process.pid)).catch(() => {});
  }

  /** Puts a process into it. What it starts from then on is in it, too. The kernel takes its time for that. */
  async take(pid: number): Promise<void> {
    try {
      for (const folder of this.#folders.values()) {
        await writeFile(join(folder, 'cgroup.procs'), String(pid));
        if (!this.#killers.has(folder)) this.#killers.set(folder, killerOf(folder));
      }
    } catch (error) {
      throw new FloorError('the kernel does not let this user put the program into a control group', { cause: error });
    }
  }

  /** Sets the limits. Until then there are none: what makes the jail needs more than some programs. */
  limit(): void {
    try {
      for (const { file, value } of this.#settings) writeFileSync(file, value);
    } catch (error) {
      throw new FloorError('the kernel does not set the limits of the program', { cause: error });
    }
  }

  /** Where the kernel freezes all of it at once. */
  get freezing(): { readonly version: 1 | 2; readonly folder: string } | undefined {
    for (const [{ version, controllers: names }, folder] of this.#folders) {
      if (version === 2 || names.includes('freezer')) return { version, folder };
    }
    return undefined;
  }

  /** Has the kernel kill all that is in it, also what is just being forked. */
  kill(): void {
    for (const kill of this.#killers.values()) kill();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // What has ended leaves its group a moment later.
    for (let round = 0; round < mostRounds && !this.#remove(); round++) await sleep(roundMs);
  }

  /** Makes the group in this tree, once. False if this user may not. */
  #join(hierarchy: Hierarchy): boolean {
    if (this.#folders.has(hierarchy)) return true;
    const folder = join(hierarchy.folder, nameOfRun());
    try {
      // Whoever may not write here cannot move a process from here into the new group.
      accessSync(join(hierarchy.folder, 'cgroup.procs'), constants.W_OK);
      mkdirSync(folder);
    } catch {
      return false;
    }
    this.#folders.set(hierarchy, folder);
    return true;
  }

  #limit(hierarchy: Hierarchy, name: LimitName, value: number): boolean {
    if (!hierarchy.controllers.includes(controllers[name]) || !this.#join(hierarchy)) return false;
    const folder = this.#folders.get(hierarchy) ?? '';
    try {
      if (hierarchy.version === 2) this.#disable.push(enableControllers(hierarchy.folder, controllers[name]));
      const settings = settingsOf(name, value, hierarchy.version)
        .map((setting) => ({ ...setting, file: join(folder, setting.file) }))
        .filter(({ file, mayBeMissing }) => mayBeMissing !== true || existsSync(file));
      for (const { file, value: text } of settings) writeFileSync(file, text);
      for (const { file, open } of settings.toReversed()) if (open !== undefined) writeFileSync(file, open);
      this.#settings.push(...settings);
      return true;
    } catch {
      return false;
    }
  }

  #remove(): boolean {
    for (const [hierarchy, folder] of this.#folders) if (removeGroup(folder)) this.#folders.delete(hierarchy);
    if (this.#folders.size > 0) return false;
    for (const disable of this.#disable.splice(0).toReversed()) disable();
    return true;
  }
}

function noGroup(name: LimitName): FloorError {
  return new FloorError(
    `--${name} needs a control group with ${controllers[name]}, and this user has none; try "systemd-run --user --scope -p Delegate=yes reeve run …"`,
  );
}
