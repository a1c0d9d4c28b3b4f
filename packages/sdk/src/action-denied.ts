import type { Answer } from './answer.ts';
import { ReeveError } from './errors.ts';

/**
 * `agent.run`, guarded functions and governed tools and models throw this if the action is denied or held for too long.
 * `answer` says why.
 */
export class ActionDeniedError extends ReeveError {
  readonly code = 'action_denied';
  readonly answer: Answer;

  constructor(answer: Answer, message = `${answer.decision === 'pending' ? 'held' : 'denied'}: ${answer.reason}`) {
    super(message);
    this.answer = answer;
  }
}
