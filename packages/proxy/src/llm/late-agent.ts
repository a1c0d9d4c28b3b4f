import type { Agent, ClientRequest } from 'node:http';

/** What Node asks of an agent, as its documentation of the option `agent` allows. Its types leave the method out. */
interface ConnectingAgent {
  addRequest(request: ClientRequest, options: object): void;
}

export interface LateAgent {
  readonly agent: Agent;
  /** Gives a request its connection. */
  connect(request: ClientRequest): void;
}

/**
 * An agent whose requests get their connection only when they are told to, so that a request can be made ready before it
 * is known whether it may leave. One that may not leave is forgotten, and has disturbed no connection.
 */
export function lateAgent(agent: Agent): LateAgent {
  const connecting = agent as Agent & ConnectingAgent;
  const give = connecting.addRequest.bind(connecting);
  const waiting = new WeakMap<ClientRequest, object>();
  connecting.addRequest = (request, options) => void waiting.set(request, options);
  return {
    agent,
    connect: (request) => {
      const options = waiting.get(request);
      if (options === undefined || !waiting.delete(request)) throw new Error('the request was sent already');
      give(request, options);
    },
  };
}
