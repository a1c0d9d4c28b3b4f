import type { CheckDetails } from './prepare-check.ts';
import { requireText } from './validate.ts';

/** The methods of an agent that check, and where the details stand among their arguments. */
const detailsAt: ReadonlyMap<string | symbol, number> = new Map([
  ['check', 1],
  ['decision', 1],
  ['run', 2],
  ['guard', 2],
]);

/** Asks an agent that acts for somebody to let another one act for them. */
const carried = Symbol('the user is carried on');

/** The other agent, acting for whom this one does. */
export function forTheSame<Agent extends object>(agent: Agent, other: Agent): Agent {
  const carry: unknown = Reflect.get(agent, carried);
  return typeof carry === 'function' ? (carry as (other: Agent) => Agent)(other) : other;
}

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
      if (name === carried) return (other: Agent) => onBehalfOf(other, subjectToken);
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
