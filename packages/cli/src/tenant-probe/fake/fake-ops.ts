import type { Leak } from './leaks.ts';
import type { Agent, Binding, Op, Reply } from './records.ts';
import { problem } from './records.ts';

interface OpsPorts {
  readonly leak: Leak | undefined;
  readonly agents: readonly Agent[];
  readonly sees: (by: Binding, record: Binding) => boolean;
  readonly list: (own: readonly Op[], all: readonly Op[], query: Readonly<Record<string, string>>) => Reply;
}

type Body = Readonly<Record<string, unknown>>;

/** The operations of the fake gateway, and their control. */
export class FakeOps {
  readonly #ports: OpsPorts;
  #ops: Op[] = [];

  constructor(ports: OpsPorts) {
    this.#ports = ports;
  }

  /** Answers a route about operations. Undefined for other routes. */
  handlerOf(
    route: string,
    by: Binding,
    query: Readonly<Record<string, string>>,
    body: Body,
  ): [string, () => Reply] | undefined {
    const [, method, path = ''] = /^(\w+) \/api\/v1\/(.*)$/.exec(route) ?? [];
    const [first, id = '', verb] = path.split('/').map(decodeURIComponent);
    const level = method === 'GET' ? 'read' : 'write';
    if (first === 'ops' && id === '') {
      const visible = () => this.#ops.filter((op) => this.#ports.sees(by, op));
      return [level, () => (method === 'GET' ? this.#list(visible(), query) : this.#register(by, body))];
    }
    if (first === 'ops') return [level, () => this.#one(by, id, verb)];
    if (first === 'control' && id !== '') return [level, () => this.#receipt(by, id)];
    if (first === 'control') return [level, () => this.#control(by, body)];
    return undefined;
  }

  ingest(agent: Pick<Op, 'org_id' | 'team_id' | 'agent_id'>, op_id: string, run_id = ''): Op {
    const { org_id, team_id, agent_id } = agent;
    const op = { org_id, team_id, agent_id, op_id, run_id, state: 'running', control: null };
    this.#ops.push(op);
    return op;
  }

  forget(agent_id: string): void {
    this.#ops = this.#ops.filter((op) => op.agent_id !== agent_id);
  }

  #list(visible: readonly Op[], query: Readonly<Record<string, string>>): Reply {
    const { state, ...rest } = query;
    const inState = (ops: readonly Op[]) => ops.filter((op) => state === undefined || op.state === state);
    return this.#ports.list(inState(visible), inState(this.#ops), rest);
  }

  #register(by: Binding, body: Body): Reply {
    const wanted = body['agent'] as Agent;
    const agent = this.#ports.agents.find(
      (one) => one.org_id === wanted.org_id && one.team_id === wanted.team_id && one.agent_id === wanted.agent_id,
    );
    const maySee = agent !== undefined && this.#ports.sees(by, agent);
    if (agent === undefined || !(maySee || this.#ports.leak === 'operations for agents of others')) {
      return problem(404, 'agent_not_found');
    }
    const id = `${String(body['trace_id'])}:${String(body['span_id'])}`;
    const known = this.#ops.find((op) => op.agent_id === agent.agent_id && op.op_id === id);
    return known === undefined ? [201, this.ingest(agent, id)] : [200, known];
  }

  #one(by: Binding, id: string, verb: string | undefined): Reply {
    const named = this.#ops.filter((op) => id === op.op_id || id === fullId(op));
    const seen = named.filter((op) => this.#ports.sees(by, op));
    if (seen.length === 0 || (named.length > 1 && this.#ports.leak === 'an id of others is ambiguous')) {
      return named.length > 1 ? problem(409, 'ambiguous_op') : problem(404, 'op_not_found', `no operation "${id}"`);
    }
    const [op] = seen;
    if (op === undefined || seen.length > 1) return problem(409, 'ambiguous_op');
    if (verb === undefined) return [200, op];
    return [202, { op: this.#act(op, verb), control: op.control }];
  }

  #act(op: Op, verb: string): Op {
    op.state = { pause: 'paused', resume: 'running', terminate: 'terminated' }[verb] ?? 'completing';
    op.control = { id: `ctl_${fullId(op).replaceAll(/\W/g, '')}`, action: verb };
    return op;
  }

  #receipt(by: Binding, id: string): Reply {
    const op = this.#ops.find(({ control }) => control?.id === id);
    const maySee = op !== undefined && this.#ports.sees(by, op);
    if (op === undefined || !(maySee || this.#ports.leak === 'receipts for everybody')) {
      return problem(404, 'control_not_found', `no control "${id}"`);
    }
    return [200, { ...op.control, agent_id: op.agent_id }];
  }

  #control(by: Binding & { readonly scopes?: readonly string[] }, body: Body): Reply {
    const scope = body['scope'] as Partial<Record<string, unknown>>;
    const isWide = scope['all'] === true || (Object.keys(scope).length === 1 && 'org_id' in scope);
    if (isWide && by.scopes?.includes('admin') !== true) {
      const [status, refusal] = problem(403, 'insufficient_scope');
      return [status, { ...(refusal as object), required_scope: 'admin' }];
    }
    const isOpen = (op: Op) => op.state === 'running' || op.state === 'paused';
    const inScope = (op: Op) =>
      Object.entries(scope).every(([name, value]) => name === 'all' || op[name as 'run_id'] === value);
    const reaches = (op: Op) =>
      this.#ports.sees(by, op) || (scope['all'] === true && this.#ports.leak === 'all means everybody');
    const matched = this.#ops.filter((op) => isOpen(op) && inScope(op) && reaches(op));
    if (body['dry_run'] !== true) for (const op of matched) this.#act(op, String(body['action']));
    const counted = this.#ports.leak === 'a control counts others' ? this.#ops.filter(isOpen) : matched;
    const isDry = body['dry_run'] === true;
    return [isDry ? 200 : 202, { matched: counted.length, control_id: isDry ? null : `ctl_${counted.length}` }];
  }
}

function fullId({ org_id, team_id, agent_id, op_id }: Op): string {
  return `${org_id}/${team_id}/${agent_id}/${op_id}`;
}
