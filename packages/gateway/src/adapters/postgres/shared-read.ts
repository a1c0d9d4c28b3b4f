/**
 * Answers whoever asks by a read that began after they asked. One read runs at a time, and all who ask meanwhile share the
 * next one: however many ask, there is never more than one on its way.
 */
export class SharedRead<Value> {
  readonly #read: () => Promise<Value>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<Value> | undefined;

  constructor(read: () => Promise<Value>) {
    this.#read = read;
  }

  ask(): Promise<Value> {
    this.#next ??= this.#afterRunning();
    return this.#next;
  }

  async #afterRunning(): Promise<Value> {
    await this.#running;
    const reading = this.#read();
    this.#running = reading.catch(() => undefined);
    this.#next = undefined;
    return await reading;
  }
}
