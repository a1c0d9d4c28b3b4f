import { BoundedSet } from './bounded-set.ts';

const most = 10_000;

/**
 * Which tasks of a server a client may ask for, once a result is judged that the server could give as that of a task: those
 * that calls have begun whose results nobody judges.
 */
export class JudgedTasks {
  /** Whether a result is judged, or may be where nobody here can know. */
  isJudged: boolean;
  readonly #free = new BoundedSet(most);

  constructor(isJudged = false) {
    this.isJudged = isJudged;
  }

  /** The client was told of a task by an answer that nobody judges. */
  free(taskId: string): void {
    this.#free.add(taskId);
  }

  isFree(taskId: string): boolean {
    return !this.isJudged || this.#free.has(taskId);
  }
}

/** The tasks of each caller: a server keeps them for all sessions and exchanges of one. */
export class TasksOfCallers {
  /** Those who asked last come last. */
  readonly #byCaller = new Map<string, JudgedTasks>();
  readonly #areShared: boolean;
  readonly #most: number;
  #hasForgotten = false;

  /** `areShared`: other processes ask in the name of the same callers. */
  constructor(areShared: boolean, mostCallers = most) {
    this.#areShared = areShared;
    this.#most = mostCallers;
  }

  /** `inUse` says who has sessions or exchanges. They are fewer than are kept, and none of them is forgotten. */
  of(caller: string, isElsewhere: boolean, inUse: () => ReadonlySet<string>): JudgedTasks {
    const known = this.#byCaller.get(caller);
    if (known === undefined && this.#byCaller.size >= this.#most) this.#forgetOne(inUse());
    const tasks = known ?? new JudgedTasks(this.#hasForgotten || (this.#areShared && isElsewhere));
    this.#byCaller.delete(caller);
    this.#byCaller.set(caller, tasks);
    return tasks;
  }

  #forgetOne(inUse: ReadonlySet<string>): void {
    const oldest = [...this.#byCaller.keys()].find((caller) => !inUse.has(caller));
    if (oldest !== undefined) this.#hasForgotten = this.#byCaller.delete(oldest);
  }
}
