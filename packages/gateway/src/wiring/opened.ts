/**
 * All that is open, each with how to close it; closed in reverse order. It knows what is being closed, so that what hangs
 * can be named.
 */
export class Opened extends AsyncDisposableStack {
  #closing = 'nothing';

  get closing(): string {
    return this.#closing;
  }

  override defer(close: () => void | Promise<void>, what = 'a part without a name'): void {
    super.defer(() => {
      this.#closing = what;
      return close();
    });
  }
}
