import type { Grant } from './grant.ts';

export type EndReason = 'signed_out' | 'ended' | 'expired' | 'refused' | 'password_changed';

type Message =
  | { readonly type: 'grant'; readonly grant: Grant }
  /** A tab asks the gateway to end the session. Without a reason: the gateway has not done it. */
  | { readonly type: 'ending'; readonly reason: EndReason | undefined }
  | { readonly type: 'ended'; readonly reason: EndReason }
  /** A newly opened tab asks whether another one is signed in. */
  | { readonly type: 'ask' };

const presence = 'reeve-signed-in';
const turn = 'reeve-refresh';

/** The messages between the tabs of one browser. Only pages of this origin receive them. */
export class Tabs {
  readonly #channel = new BroadcastChannel('reeve-session');
  #leave: (() => void) | undefined;

  listen(handle: (message: Message) => void): void {
    this.#channel.addEventListener('message', ({ data }: MessageEvent<Message>) => handle(data));
  }

  tell(message: Message): void {
    this.#channel.postMessage(message);
  }

  /** One tab at a time, because each refresh cookie works once. Without locks (no HTTPS) the gateway decides. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return locks()?.request(turn, work) ?? work();
  }

  /** Lets future tabs know that there is one to ask. */
  setPresent(isPresent: boolean): void {
    if (!isPresent) {
      this.#leave?.();
      this.#leave = undefined;
    } else if (this.#leave === undefined) {
      const held = new Promise<void>((resolve) => (this.#leave = resolve));
      void locks()?.request(presence, { mode: 'shared' }, () => held);
    }
  }

  async isAnotherPresent(): Promise<boolean> {
    const state = await locks()?.query();
    return state?.held?.some(({ name }) => name === presence) === true;
  }
}

/** Missing if the page is neither on HTTPS nor on localhost, whatever the types say. */
function locks(): LockManager | undefined {
  return (navigator as { readonly locks?: LockManager }).locks;
}
