import { framedMessage } from '../http2-frames.ts';
import type { RawCall, RawRequest } from '../load-protocol.ts';
import type { ServerProcess } from '../server-process.ts';
import { args, mixArgs } from './decision-points.ts';
import { pause } from '../process-usage.ts';
import { startOnFreePort } from './free-port-server.ts';
import type { Rules } from './peer-rules.ts';
import { rulesOf } from './peer-rules.ts';
import { field, valueEntry } from './protobuf-fields.ts';

const condition = 'fits';
const tuple = { user: 'agent:agent-1', relation: 'caller', object: 'tool:search.web' };

/** OpenFGA with its store in memory. The agent may call the tool, on a condition about what a check says. */
export async function startOpenFga(
  core: number | undefined,
  program: string,
  isMixed: boolean,
): Promise<{ readonly server: ServerProcess; readonly request: RawRequest }> {
  let http = '';
  const server = await startOnFreePort(core, (port, other) => {
    http = `http://127.0.0.1:${other}`;
    return [
      ...[program, 'run', '--datastore-engine=memory', '--log-level=none', '--playground-enabled=false'],
      ...['--metrics-enabled=false', `--grpc-addr=127.0.0.1:${port}`, `--http-addr=127.0.0.1:${other}`],
    ];
  });
  try {
    const { id: store } = await post(`${http}/stores`, { name: 'bench' });
    const { authorization_model_id: model } = await post(
      `${http}/stores/${store}/authorization-models`,
      modelOf(rulesOf(isMixed)),
    );
    const written = { ...tuple, condition: { name: condition } };
    await post(`${http}/stores/${store}/write`, {
      writes: { tuple_keys: [written] },
      authorization_model_id: model,
    });
    const given = isMixed ? mixArgs : args;
    const check = (
      context: Readonly<Record<string, number | boolean | string>>,
      answer: RawCall['answer'],
    ): RawCall => ({
      content: { base64: framedMessage(checkRequest(store ?? '', model ?? '', context)).toString('base64') },
      answer,
    });
    const allowed = check(given.allowed, { hex: '0801', at: 5 });
    // What is not allowed is an empty message.
    const denied = check(given.denied, { hex: '0000000000', at: 0 });
    const request: RawRequest = {
      path: '/openfga.v1.OpenFGAService/Check',
      contentType: 'application/grpc',
      ...allowed,
      ...(isMixed ? { mix: { denied } } : {}),
    };
    return { server, request };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

function modelOf({ openfga: { expression, parameters } }: Rules): object {
  const types = Object.entries(parameters).map(([name, type]) => [name, { type_name: type }]);
  return {
    schema_version: '1.1',
    type_definitions: [
      { type: 'agent' },
      {
        type: 'tool',
        relations: { caller: { this: {} } },
        metadata: { relations: { caller: { directly_related_user_types: [{ type: 'agent', condition }] } } },
      },
    ],
    conditions: { [condition]: { name: condition, expression, parameters: Object.fromEntries(types) } },
  };
}

/** openfga.v1.CheckRequest: the store, the tuple, the model, and what the condition reads. */
function checkRequest(
  store: string,
  model: string,
  context: Readonly<Record<string, number | boolean | string>>,
): Buffer {
  const key = Buffer.concat([field(1, tuple.user), field(2, tuple.relation), field(3, tuple.object)]);
  const fields = Object.entries(context).map(([name, value]) => field(1, valueEntry(name, value)));
  return Buffer.concat([field(1, store), field(2, key), field(4, model), field(6, Buffer.concat(fields))]);
}

const listensWithinMs = 10_000;

/** The port of HTTP may open after that of gRPC. */
async function post(url: string, body: object): Promise<Readonly<Record<string, string>>> {
  const until = performance.now() + listensWithinMs;
  for (;;) {
    try {
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
      if (!answer.ok) throw new Refused(`OpenFGA answers ${answer.status}: ${await answer.text()}`);
      return (await answer.json()) as Record<string, string>;
    } catch (error) {
      if (error instanceof Refused || performance.now() > until) throw error;
      await pause(0.1);
    }
  }
}

class Refused extends Error {}
