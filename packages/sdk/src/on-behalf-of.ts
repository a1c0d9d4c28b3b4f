import type { Agent } from './agent.ts';
import type { CheckDetails } from './prepare-check.ts';
import { requireText } from './validate.ts';

type Acting = Pick<Agent, 'check' | 'checkMany' | 'decision' | 'run' | 'guard' | 'onBehalfOf'>;

/** The agent with a token in each of its checks. Everything else is the agent's own. */
export function onBehalfOf(agent: Agent, token: string): Agent {
  // An empty one would mean nobody, and nobody asks for that by this name.
  const subjectToken = requireText('subjectToken', token);
  const withToken = <Details extends CheckDetails>(details?: Details) => ({
    ...(details as Details),
    subjectToken: details?.subjectToken ?? subjectToken,
  });
  const acting: Acting = {
    check: (action, options) => agent.check(action, withToken(options)),
    checkMany: (checks, options) => agent.checkMany(checks.map(withToken), options),
    decision: (action, options) => agent.decision(action, withToken(options)),
    run: (action, work, options) => agent.run(action, work, withToken(options)),
    guard: ((tool: string, fn: () => unknown, options?: CheckDetails) =>
      agent.guard(tool, fn, withToken(options))) as Agent['guard'],
    onBehalfOf: (other) => onBehalfOf(agent, other),
  };
  return new Proxy(agent, {
    get: (target, name) => {
      if (Object.hasOwn(acting, name)) return acting[name as keyof Acting];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
