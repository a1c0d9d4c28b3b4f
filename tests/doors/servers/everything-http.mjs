// The reference server "everything" over Streamable HTTP, on this machine alone. Prints its address.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createServer as createEverything } from '../../../node_modules/@modelcontextprotocol/server-everything/dist/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

const transports = new Map();
const events = new Map();
const eventStore = {
  storeEvent: async (streamId, message) => {
    const id = randomUUID();
    events.set(id, { streamId, message });
    return id;
  },
  replayEventsAfter: async (lastId, { send }) => {
    const all = [...events];
    const stream = events.get(lastId)?.streamId;
    for (const [id, event] of all.slice(all.findIndex(([each]) => each === lastId) + 1)) {
      if (event.streamId === stream) await send(id, event.message);
    }
    return stream;
  },
};

async function answer(request, response) {
  // Tests read from here what the proxy sends.
  if (request.headers.authorization !== undefined) console.log(`authorization ${request.headers.authorization}`);
  const known = transports.get(request.headers['mcp-session-id']);
  if (known !== undefined) return known.handleRequest(request, response);
  if (request.headers['mcp-session-id'] !== undefined) return response.writeHead(404).end();
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    eventStore,
    onsessioninitialized: (id) => transports.set(id, transport),
    onsessionclosed: (id) => {
      console.log('session closed');
      transports.delete(id);
    },
  });
  await createEverything().server.connect(transport);
  return transport.handleRequest(request, response);
}

const server = createServer((request, response) => void answer(request, response));
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
