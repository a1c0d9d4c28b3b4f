// A server of both families of the protocol, on stdio, or over HTTP on this machine alone.
import { createServer } from 'node:http';
import {
  acceptedContent,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const schema = (properties) => fromJsonSchema({ type: 'object', properties });
const text = (value) => ({ content: [{ type: 'text', text: value }] });

let changed = () => {};

function build() {
  const server = new McpServer(
    { name: 'modern', version: '1' },
    { capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} } },
  );
  server.registerTool(
    'greet',
    { inputSchema: schema({ name: { type: 'string' } }), annotations: { readOnlyHint: true } },
    ({ name }) => text(`Hello ${name}`),
  );
  server.registerTool('wipe', { inputSchema: schema({}) }, () => text('wiped'));
  server.registerTool(
    'route',
    { inputSchema: schema({ region: { type: 'string', 'x-mcp-header': 'Region' } }) },
    ({ region }) => text(`in ${region}`),
  );
  server.registerTool('deploy', { inputSchema: schema({}) }, (_args, ctx) => {
    const confirm = schema({ sure: { type: 'boolean' } });
    const given = acceptedContent(ctx.mcpReq.inputResponses, 'confirm', confirm);
    if (given?.sure === true) return text('deployed');
    const requestedSchema = { type: 'object', properties: { sure: { type: 'boolean' } } };
    return inputRequired({ inputRequests: { confirm: inputRequired.elicit({ message: 'Sure?', requestedSchema }) } });
  });
  server.registerTool('steps', { inputSchema: schema({}) }, async (_args, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [1, 2, 3]) {
      if (progressToken !== undefined) {
        await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } });
      }
    }
    return text('done');
  });
  server.registerTool('slow', { inputSchema: schema({}) }, (_args, ctx) => {
    console.error('slow began');
    return new Promise((resolve) => {
      ctx.mcpReq.signal.addEventListener('abort', () => {
        console.error('slow was cancelled');
        resolve(text('cancelled'));
      });
    });
  });
  server.registerTool('change', { inputSchema: schema({}) }, () => {
    server.sendToolListChanged();
    changed();
    return text('changed');
  });
  server.registerResource('note', 'note://one', {}, () => ({ contents: [{ uri: 'note://one', text: 'a note' }] }));
  server.registerPrompt('hello', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }],
  }));
  return server;
}

if (process.argv.includes('--stdio')) serveStdio(build);
else {
  const handler = createMcpHandler(build);
  changed = () => handler.notify.toolsChanged();
  const answerTo = async (request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, headers } = request;
    const body = method === 'POST' ? Buffer.concat(chunks) : undefined;
    const answer = await handler.fetch(
      new Request(`http://${headers.host}${request.url}`, { method, headers, body, signal: gone.signal }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk);
    response.end();
  };
  const server = createServer((request, response) => void answerTo(request, response));
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}
