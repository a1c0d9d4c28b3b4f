import type { Action } from '../action/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { AgentRecord } from '../tenancy/index.ts';
import type { Facts } from './condition.ts';
import { UnknownFact } from './condition.ts';
import type { Subject } from './subject.ts';

/** What the calls of a tool differ in. It is thrown very often, and one instance serves all. */
const differs = new UnknownFact('the calls of a tool differ in it');

function leftOpen(): never {
  throw differs;
}

/**
 * What is known of every call that an agent may make of one tool. The rest is unknown: arguments, annotations, URL, cost,
 * time, run, spend and user. All members are written out, so that a new one does not compile until somebody has said which it is.
 */
export class ToolFacts implements Facts {
  readonly agent: AgentRecord;
  readonly depth: number;
  readonly action: Action;
  /** The call as matchers see it. Its host is unknown. */
  readonly subject: Subject;

  constructor(agent: AgentRecord, depth: number, tool: string, source: string) {
    this.agent = agent;
    this.depth = depth;
    this.action = {
      type: 'tool_call',
      tool,
      source,
      model: '',
      promptTokens: 0,
      maxOutputTokens: 0,
      operation: '',
      path: '',
      host: '',
      port: 0,
      protocol: '',
      namedOnly: false,
      command: '',
      commandArgs: [],
      workingDir: '',
      get url(): string {
        return leftOpen();
      },
      get json(): string {
        return leftOpen();
      },
      get annotations(): string {
        return leftOpen();
      },
    };
    this.subject = {
      tool,
      model: null,
      path: null,
      command: null,
      commandLine: null,
      get host(): string {
        return leftOpen();
      },
      get unclear(): null {
        return leftOpen();
      },
      get user(): string {
        return leftOpen();
      },
    };
  }

  get now(): EpochMs {
    return leftOpen();
  }

  get costUsd(): number {
    return leftOpen();
  }

  args(): never {
    return leftOpen();
  }

  annotations(): never {
    return leftOpen();
  }

  run(): never {
    return leftOpen();
  }

  spend(): never {
    return leftOpen();
  }

  user(): never {
    return leftOpen();
  }
}
