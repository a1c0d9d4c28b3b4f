import type { Answer } from './answer.ts';
import { ReeveError } from './errors.ts';

/** `agent.run` and guarded functions throw this if the action is denied or held for too long. `answer` says why. */
export class ActionDeniedError extends ReeveError {
  readonly code = 'action_denied';
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(`${answer.decision === 'pending' ? 'held' : 'denied'}: ${answer.reason}`);
    this.answer = answer;
  }
}
