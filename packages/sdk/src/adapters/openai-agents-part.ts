import { copyWith, standInFor } from './copy-with.ts';
import type { Subagent } from './subagents.ts';

/** A handoff to another agent. */
export interface AgentsHandoff {
  readonly toolName: string;
  readonly agentName: string;
  readonly onInvokeHandoff: (context: never, args: string) => unknown;
}

/** An agent of the OpenAI Agents SDK that does a part of a run. */
export interface PartOfRun {
  readonly name: string;
  readonly model?: unknown;
  readonly handoffs: readonly object[];
  clone(config: object): this;
  on(event: string, listener: () => void): unknown;
}

interface StreamingModel {
  getResponse(request: unknown): Promise<unknown>;
  getStreamedResponse(request: unknown): AsyncIterable<unknown>;
}

type Runs = Readonly<Record<string, unknown>>;

/** The agent with these tools and handoffs, whose work is done by the sub-agent until it has answered. */
export function partOf<Part extends PartOfRun>(
  next: Part,
  subagent: Subagent,
  { tools, handoffs }: { readonly tools: readonly object[]; readonly handoffs: readonly object[] },
  end: () => Promise<void>,
): Part {
  const part = next.clone({
    tools: tools.map((tool) => runWithin(subagent, tool, ['invoke', 'needsApproval'])),
    handoffs: handoffs.map((handoff) => runWithin(subagent, handoff, ['onInvokeHandoff'])),
    ...(isModel(next.model) ? { model: modelWithin(subagent, next.model) } : {}),
  });
  part.on('agent_end', () => void end());
  return part;
}

export function isHandoff(tool: object): tool is AgentsHandoff {
  return 'onInvokeHandoff' in tool;
}

/** The handoff that the SDK makes of an agent in a list of handoffs. It knows handoffs by their class, as `like` is one. */
export function handoffTo(agent: object, like: object): AgentsHandoff {
  const Handoff = like.constructor as new (agent: object, onInvokeHandoff: () => object) => AgentsHandoff;
  return new Handoff(agent, () => agent);
}

function runWithin<Thing extends object>(subagent: Subagent, thing: Thing, names: readonly string[]): Thing {
  const methods = names.flatMap((name) => {
    const method = (thing as Runs)[name];
    if (typeof method !== 'function') return [];
    return [[name, (...args: unknown[]) => subagent.within((): unknown => method.apply(thing, args))] as const];
  });
  return copyWith(thing, Object.fromEntries(methods));
}

/** What was governed for an agent above is asked for, and charged, as the sub-agent. */
function modelWithin(subagent: Subagent, model: StreamingModel): StreamingModel {
  async function* getStreamedResponse(request: unknown) {
    // A generator runs wherever its next part is asked for.
    const events = subagent.within(() => model.getStreamedResponse(request)[Symbol.asyncIterator]());
    try {
      for (;;) {
        const event = await subagent.within(() => events.next());
        if (event.done === true) return;
        yield event.value;
      }
    } finally {
      await subagent.within(() => events.return?.());
    }
  }
  const getResponse = (request: unknown) => subagent.within(() => model.getResponse(request));
  return standInFor(model, { getResponse, getStreamedResponse });
}

/** A part that names its model has the one of the run. */
function isModel(model: unknown): model is StreamingModel {
  return typeof model === 'object' && model !== null && 'getResponse' in model;
}
