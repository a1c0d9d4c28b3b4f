import type { Action } from './action.ts';
import { ReeveInvalidRequest } from './errors.ts';
import type { Operation } from './operation.ts';
import type { Work } from './run-action.ts';
import type { RunOptions } from './run-options.ts';

/** How the calls of a guarded function are checked. */
export interface GuardOptions<Args extends readonly unknown[]> extends Omit<RunOptions, 'traceId' | 'spanId'> {
  /** The origin of the tool, such as the name of an MCP server. */
  readonly source?: string | undefined;
  readonly url?: string | undefined;
  /** What policies see as `args`. Defaults to a single object argument itself, else to the list of all arguments. */
  readonly args?: ((...args: Args) => unknown) | undefined;
}

type Run = <Result>(action: Action, work: Work<Result>, options: RunOptions) => Promise<Result>;

/** Wraps `fn`. Each call is an operation of its own. */
export function guarded<Args extends readonly unknown[], Result>(
  run: Run,
  tool: string,
  fn: (args: Args, operation: Operation) => Result | Promise<Result>,
  options: GuardOptions<Args> & { readonly passOperation?: boolean | undefined },
): (...args: Args) => Promise<Result> {
  const { source, url, args: seen = seenByDefault, passOperation = false, ...details } = options;
  return async (...args) => {
    // Where policies see the one argument itself, it can be replaced.
    const isWhole = options.args === undefined && args.length === 1 && isObject(args[0]);
    const work = (operation: Operation) => {
      const { rewrittenArgs } = operation.answer;
      return fn(isWhole && rewrittenArgs !== undefined ? ([rewrittenArgs] as unknown as Args) : args, operation);
    };
    const canRewrite = details.canRewrite ?? (isWhole || passOperation);
    return run({ tool, source, url, args: seen(...args) }, work, { ...details, canRewrite });
  };
}

/** What a generator does comes after it has returned, when the operation would be over. */
export function requireNoGenerator(fn: unknown): void {
  if (!/^\[object (?:Async)?GeneratorFunction\]$/.test(Object.prototype.toString.call(fn))) return;
  throw new ReeveInvalidRequest('fn: must not be a generator; use agent.run, and yield what it gives back');
}

function seenByDefault(...args: readonly unknown[]): unknown {
  const [only] = args;
  if (args.length === 0) return undefined;
  return args.length === 1 && isObject(only) ? only : args;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
