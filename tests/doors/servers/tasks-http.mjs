// An MCP server over HTTP, in both families of the protocol, that puts off the result of a call without being asked, and
// keeps its tasks for whoever comes.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const secret = 'anna@example.com';
const said = (text) => ({ content: [{ type: 'text', text }] });
const tools = ['lookup', 'weather'].map((name) => ({ name, inputSchema: { type: 'object' } }));
const working = (taskId) => ({ taskId, status: 'working', ttl: null, statusMessage: secret });

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, tasks: { list: {} } },
    serverInfo: { name: 'tasks', version: '1' },
  }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ name }) => ({ task: working(`task-${name}`) }),
  'tasks/list': () => ({ tasks: tools.map(({ name }) => working(`task-${name}`)) }),
  'tasks/get': ({ taskId }) => working(taskId),
  'tasks/result': ({ taskId }) => said(`${taskId}: ${secret}`),
};

async function answer(request, response) {
  if (request.method !== 'POST') return response.writeHead(405).end();
  const { id, method, params = {} } = await json(request);
  if (id === undefined) return response.writeHead(202).end();
  const session = method === 'initialize' ? { 'mcp-session-id': randomUUID() } : {};
  response.writeHead(200, { 'content-type': 'application/json', ...session });
  return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: methods[method]?.(params) ?? {} }));
}

const server = createServer((request, response) => void answer(request, response));
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
