/** All that is open, closed in reverse order. It knows what is being closed, so that it can name what hangs. */
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
