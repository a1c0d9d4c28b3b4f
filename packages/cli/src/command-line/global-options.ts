import type { GlobalValues, Option, OptionSet } from './command.ts';
import { outputFormats } from './command.ts';
import { choice, number, text } from './values.ts';

/** Options of every command, before and after its name. */
export const globalOptions = {
  apiKey: text('KEY', 'An API key. Also: REEVE_API_KEY, or the key of the context.'),
  context: text('NAME', 'The context to use. Also: REEVE_CONTEXT, or the current one.', { completes: 'context' }),
  apiUrl: text('URL', 'Where the gateway answers. Also: REEVE_API_URL, or the URL of the context.'),
  output: choice(
    [...outputFormats, 'wide'],
    'How results are printed; all have the same data. "wide" is a table that is not fitted to the terminal. Default: table.',
    { short: 'o' },
  ),
  timeout: number('SECONDS', 'How long to wait for an answer. Default: 30.', { min: 1, max: 3600 }),
} satisfies OptionSet;

/** Accepted everywhere. */
export const helpOption: Option<boolean> = {
  summary: 'Show this.',
  short: 'h',
  read: (given) => given.length > 0,
};

/** Accepted without a command. */
export const versionOption: Option<boolean> = {
  summary: 'Show the version of this command, and of the gateway.',
  short: 'V',
  read: (given) => given.length > 0,
};

export function globalValues(given: (name: string) => readonly string[]): GlobalValues {
  const output = globalOptions.output.read(given('output'), '--output') ?? 'table';
  const blankIsUnset = (value: string | undefined) => (value?.trim() === '' ? undefined : value?.trim());
  return {
    apiKey: blankIsUnset(globalOptions.apiKey.read(given('apiKey'), '--api-key')),
    context: blankIsUnset(globalOptions.context.read(given('context'), '--context')),
    apiUrl: blankIsUnset(globalOptions.apiUrl.read(given('apiUrl'), '--api-url')),
    output: output === 'wide' ? 'table' : output,
    isWide: output === 'wide',
    timeout: globalOptions.timeout.read(given('timeout'), '--timeout') ?? 30,
  };
}
