// A server of the official SDK over Streamable HTTP, on this machine alone. Prints its address, and then all it hears.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

const transports = new Map();
const finish = new Set();
const said = (words) => ({ content: [{ type: 'text', text: words }] });

/** `slow` takes until it is told to finish, or is cancelled. */
function slow({ signal }) {
  return new Promise((resolve) => {
    finish.add(() => resolve(said('finished')));
    signal.addEventListener('abort', () => {
      console.log('the call of slow was cancelled');
      resolve(said('cancelled'));
    });
  });
}

async function opened(isPlain) {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    enableJsonResponse: isPlain,
    onsessioninitialized: (id) => transports.set(id, transport),
  });
  const server = new McpServer({ name: 'slow', version: '1' });
  server.registerTool('slow', {}, slow);
  server.registerTool('echo', {}, () => said('heard'));
  await server.connect(transport);
  return transport;
}

async function answer(request, response) {
  if (request.url === '/finish') {
    for (const end of finish) end();
    finish.clear();
    return response.end();
  }
  const body = request.method === 'POST' ? await text(request) : undefined;
  if (body !== undefined) console.log(body);
  // Whoever does not wait for it takes it for done too early.
  if (body?.includes('notifications/cancelled')) await sleep(500);
  const known = transports.get(request.headers['mcp-session-id']) ?? (await opened(request.url === '/plain'));
  return known.handleRequest(request, response, body === undefined ? undefined : JSON.parse(body));
}

const server = createServer((request, response) => void answer(request, response));
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
