import manifest from '../../package.json' with { type: 'json' };
import type { ServerAccess } from './auth/server-tokens.ts';
import { governorOf } from './govern/governor.ts';
import { JudgedTasks } from './judged-tasks.ts';
import { allTools, ToolCatalog } from './lock/tool-catalog.ts';
import type { ListedTool } from './lock/tool-lock.ts';
import { ownEnvelope } from './protocol/envelope.ts';
import type { ServerSpec } from './server-spec.ts';
import { connectTo } from './server-spec.ts';
import { Session } from './session.ts';

const clientInfo = { name: 'reeve', version: manifest.version };

/** The tools of a server, for a lock. Speaks with it as a client of the newest revision that it knows. */
export async function listServerTools(
  name: string,
  spec: ServerSpec,
  { tokens, person }: ServerAccess,
  warn: (line: string) => void,
): Promise<ListedTool[]> {
  const nobody = () => Promise.reject(new Error('nothing is called here'));
  const session = new Session({
    connect: (events) => connectTo(spec, events, { opensStreams: false, warn, tokens }),
    tokens,
    person: person(),
    governor: governorOf(name, spec, nobody, { approvalWaitMs: 0, failOpen: false, showDenied: true, warn }),
    catalog: new ToolCatalog({ lock: () => undefined, warn, onChanged: () => {} }),
    hearsOthers: false,
    tasks: new JudgedTasks(),
    unrelated: () => undefined,
    onGone: () => {},
  });
  try {
    const envelope = await greet(session);
    return await allTools((cursor) => session.ask('tools/list', cursor === undefined ? {} : { cursor }, envelope));
  } finally {
    await session.close();
  }
}

/** Says hello as the family with `initialize` does. A server that does not know that is of the other family. */
async function greet(session: Session) {
  try {
    await session.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  } catch (error) {
    const envelope = ownEnvelope(clientInfo.name, clientInfo.version);
    await session.ask('server/discover', {}, envelope).catch(() => {
      throw error;
    });
    return envelope;
  }
  await session.tell('notifications/initialized');
  return undefined;
}
