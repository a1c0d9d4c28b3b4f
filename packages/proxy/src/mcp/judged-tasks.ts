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
  readonly #byCaller = new Map<string, JudgedTasks>();
  readonly #areShared: boolean;
  #hasForgotten = false;

  /** `areShared`: other processes ask in the name of the same callers. */
  constructor(areShared: boolean) {
    this.#areShared = areShared;
  }

  of(caller: string, isElsewhere: boolean): JudgedTasks {
    const known = this.#byCaller.get(caller);
    if (known !== undefined) return known;
    const [oldest] = this.#byCaller.keys();
    if (oldest !== undefined && this.#byCaller.size >= most) {
      this.#byCaller.delete(oldest);
      this.#hasForgotten = true;
    }
    const tasks = new JudgedTasks(this.#hasForgotten || (this.#areShared && isElsewhere));
    this.#byCaller.set(caller, tasks);
    return tasks;
  }
}
