import type { CheckDetails } from './prepare-check.ts';
import { requireText } from './validate.ts';

/** The methods of an agent that check, and where the details stand among their arguments. */
const detailsAt: ReadonlyMap<string | symbol, number> = new Map([
  ['check', 1],
  ['decision', 1],
  ['run', 2],
  ['guard', 2],
]);

type Method = (...args: unknown[]) => unknown;

/** The agent with a token in each of its checks. Everything else is the agent's own. */
export function onBehalfOf<Agent extends object>(agent: Agent, token: string): Agent {
  // An empty one would mean nobody, and nobody asks for that by this name.
  const subjectToken = requireText('subjectToken', token);
  const withToken = (details: CheckDetails = {}) => ({
    ...details,
    subjectToken: details.subjectToken ?? subjectToken,
  });
  return new Proxy(agent, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const own = value.bind(target) as Method;
      if (name === 'onBehalfOf') return (other: string) => onBehalfOf(target, other);
      if (name === 'checkMany') {
        return (checks: readonly CheckDetails[], ...rest: unknown[]) => own(checks.map(withToken), ...rest);
      }
      const at = detailsAt.get(name);
      if (at === undefined) return own;
      return (...args: unknown[]) =>
        own(...Array.from({ length: at }, (_, index) => args[index]), withToken(args[at] as CheckDetails | undefined));
    },
  });
}
