import { ConnectionError } from '../http2/connection-error.ts';
import { errorCode } from '../http2/frame.ts';
import type { Limits } from '../limits.ts';
import { Allowance } from './allowance.ts';

/** What a fault of the peer costs, of those that end one stream only. */
const faultTokens = 5;
const openedTokens = 1;
/** A client may answer each answer with a few WINDOW_UPDATE and PING frames. */
const answeredTokens = 4;
const sentTokens = 2;
/** What the DATA of a call that is not handled costs, which was sent before the peer knew. */
const unwantedTokens = 2;
/** What a call costs that is answered without a handler, compared to one that is refused by a reset. */
const unhandledTokens = 5;
/** Refused calls come back within this long. */
const refusalsWithinSeconds = 10;

/** Bounds the frames of one peer that cost work and do none. Beyond it, the connection ends with ENHANCE_YOUR_CALM. */
export class PeerBudget {
  readonly #limits: Limits;
  readonly #idle: Allowance;
  readonly #refusals: Allowance;
  #resets: Allowance;

  constructor(limits: Limits, now: number) {
    this.#limits = limits;
    this.#idle = new Allowance(limits.idleFrames, limits.idleFramesPerSecond, now);
    this.#resets = new Allowance(limits.resets, limits.resetsPerSecond, now);
    // All calls that are advertised may come before the peer hears of the first refusal.
    this.#refusals = new Allowance(limits.streams, limits.streams / refusalsWithinSeconds, now);
  }

  /** A frame that does nothing for a call. */
  idleFrame(now: number): void {
    if (!this.#idle.spend(1, now)) throw calm('too many frames that do nothing for a call');
  }

  /** A fault that ends one stream. */
  fault(now: number): void {
    if (!this.#idle.spend(faultTokens, now)) throw calm('too many streams that end with an error');
  }

  /** The peer has reset an open call. */
  reset(now: number): void {
    if (!this.#resets.spend(1, now)) throw calm('too many calls were cancelled, compared to those that were finished');
  }

  /** A call was refused, and may be tried again. */
  refused(now: number): void {
    this.#refuse(1, now);
  }

  /** A call is answered without a handler. */
  unhandled(now: number): void {
    this.#refuse(unhandledTokens, now);
  }

  opened(): void {
    this.#idle.earn(openedTokens);
  }

  answered(): void {
    this.#idle.earn(answeredTokens);
    this.#resets.earn(1);
  }

  /** A message of a stream was sent, or a large part of one. Some clients answer each with a PING. */
  sent(): void {
    this.#idle.earn(sentTokens);
  }

  /** A trusted peer may cancel as many calls at once as it may open. */
  trust(now: number): void {
    this.#resets = new Allowance(
      Math.max(this.#limits.resets, this.#limits.streams),
      this.#limits.resetsPerSecond,
      now,
    );
  }

  #refuse(tokens: number, now: number): void {
    if (!this.#refusals.spend(tokens, now)) throw calm('too many calls that are not handled');
    this.#idle.earn(unwantedTokens);
  }
}

function calm(message: string): ConnectionError {
  return new ConnectionError(errorCode.enhanceYourCalm, message);
}
