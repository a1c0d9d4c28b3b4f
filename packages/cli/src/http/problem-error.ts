import { CliError, nothingThere } from '../cli-error.ts';
import { isObject } from '../is-object.ts';

/** A refusal of the gateway: a problem of RFC 9457. */
export interface ProblemText {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** Text beside the detail: each fault of the input, or what may have been meant. */
  readonly lines: readonly string[];
  /** Every member, as sent. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** An unsuccessful answer. */
export class ProblemError extends CliError {
  readonly problem: ProblemText;

  constructor(problem: ProblemText, words: string) {
    super(words, { exitCode: problem.code === 'scope_not_found' ? nothingThere : 1 });
    this.problem = problem;
  }
}

/** Makes an error of any unsuccessful answer, whatever it holds. */
export function problemError(status: number, text: string, location: string | undefined, url: string): ProblemError {
  const problem = problemOf(status, text);
  return new ProblemError(problem, wordsOf(problem, location, new URL(url).origin));
}

function problemOf(status: number, text: string): ProblemText {
  const members = parsed(text);
  const { code, detail, title, errors, candidates } = members;
  const words = typeof detail === 'string' && detail !== '' ? detail : title;
  const list = Array.isArray(errors) ? errors.filter(isObject) : [];
  return {
    status,
    code: typeof code === 'string' ? code : '',
    detail: typeof words === 'string' ? words : '',
    lines: [
      ...list.map(placedText),
      ...(Array.isArray(candidates) ? candidates.filter((one) => typeof one === 'string') : []),
    ],
    members,
  };
}

/** The fault and its location: a JSON pointer into the request, or a position in a policy. */
function placedText(one: Readonly<Record<string, unknown>>): string {
  const { pointer, detail, file, line, column, message } = one;
  const isShown = (part: unknown): part is string | number =>
    (typeof part === 'string' && part !== '') || typeof part === 'number';
  const place = isShown(file) ? [file, line, column].filter(isShown).join(':') : pointer;
  return [place, detail ?? message].filter(isShown).join(': ');
}

function wordsOf(problem: ProblemText, location: string | undefined, place: string): string {
  const { status, code, detail, lines } = problem;
  if (status >= 300 && status < 400) {
    const target = location === undefined ? 'elsewhere' : `to ${location}`;
    return `${place} redirects ${target}. Redirects are not followed, so that no credential goes astray; set --api-url to the right place`;
  }
  if (status === 401) {
    return `authentication required${detail === '' ? '' : ` (${detail})`}. Run "reeve login" to log in`;
  }
  if (detail === '' && code === '') {
    return `${place} answered ${status} without saying why. Is that the URL of a gateway?`;
  }
  const retry = status === 429 || status === 503 ? ' Try again later.' : '';
  // Leaves out the first line if the detail already says it.
  const further = lines.filter((line, at) => line !== detail || at > 0);
  return [`${detail === '' ? code : detail}${retry}`, ...further.map((line) => `  ${line}`)].join('\n');
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
