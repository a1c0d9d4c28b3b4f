// An MCP server on stdio that says the same secret in every way that the protocol has.
import { createInterface } from 'node:readline';

const secret = 'anna@example.com';
const write = (line) => process.stdout.write(`${line}\n`);
const send = (message) => write(JSON.stringify({ jsonrpc: '2.0', ...message }));
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const log = (data) => send({ method: 'notifications/message', params: { level: 'info', data } });
const subscriptionId = 'io.modelcontextprotocol/subscriptionId';
/** What the client listens by. */
let listening;
const asked = new Map();
let lastAsked = 0;

/** Asks the client, and answers the call with what it says. */
function ask(id, method, params) {
  const own = `server-${++lastAsked}`;
  asked.set(own, id);
  send({ id: own, method, params });
}

const tools = {
  echo: (id, { arguments: args = {} }) => send({ id, result: text(JSON.stringify(args)) }),
  lookup: (id, { _meta }) => {
    log(`found ${secret}`);
    send({ method: 'notifications/x', params: { secret } });
    send({ method: 'notifications/cancelled', params: { requestId: secret } });
    send({ method: 'notifications/tools/list_changed', params: { secret } });
    const report = { progressToken: _meta?.progressToken, progress: 1, total: 2, message: secret };
    if (_meta?.progressToken !== undefined) send({ method: 'notifications/progress', params: report });
    // As it is written, digits and all, with something beside the result.
    const content = `[{"type":"text","text":"mail ${secret}"},{"type":"image","data":"AAAA","mimeType":"image/png"}]`;
    const result = `{"content":${content},"structuredContent":{"mail":"${secret}","n":1.50}}`;
    write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result},"note":"${secret}"}`);
    log(`gave ${secret}`);
    if (listening === undefined) return;
    const params = { level: 'info', data: secret, _meta: { [subscriptionId]: listening } };
    send({ method: 'notifications/message', params });
    send({ method: 'notifications/prompts/list_changed', params });
  },
  error: (id) => send({ id, error: { code: -32050, message: `no ${secret}`, data: { secret } } }),
  failed: (id) => send({ id, result: { ...text(`no ${secret}`), isError: true } }),
  nothing: (id) => send({ id, result: text('nothing') }),
  late: (id) => send({ id, result: { task: { taskId: 'task-1', status: 'working', ttl: null } } }),
  sample: (id, { arguments: args }) => {
    const messages = [{ role: 'user', content: { type: 'text', text: args.prompt } }];
    ask(id, 'sampling/createMessage', { messages, maxTokens: 5 });
  },
  elicit: (id, { arguments: args }) => {
    const requestedSchema = { type: 'object', properties: { mail: { type: 'string' } } };
    ask(id, 'elicitation/create', { message: args.message, requestedSchema });
  },
  input: (id) => {
    const params = { message: 'Your mail?', requestedSchema: { type: 'object', properties: {} } };
    const inputRequests = { mail: { method: 'elicitation/create', params }, roots: { method: 'roots/list' } };
    send({ id, result: { resultType: 'input_required', inputRequests } });
  },
  roots: (id) => ask(id, 'roots/list', {}),
  update: (id, { arguments: args }) => {
    send({ method: 'notifications/resources/updated', params: { uri: args.uri, title: secret } });
    send({ id, result: text('updated') });
  },
};

const methods = {
  initialize: (id, { protocolVersion }) => {
    const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, logging: {}, tasks: {} };
    send({ id, result: { protocolVersion, capabilities, serverInfo: { name: 'talkative', version: '1' } } });
  },
  'tools/list': (id) =>
    send({ id, result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) } }),
  'tools/call': (id, params) => (tools[params.name] ?? tools.nothing)(id, params),
  'resources/read': (id, { uri }) => send({ id, result: { contents: [{ uri, text: `of ${secret}` }] } }),
  'prompts/get': (id, { name }) => {
    const messages = [{ role: 'user', content: { type: 'text', text: `${name} ${secret}` } }];
    send({ id, result: { messages } });
  },
  'subscriptions/listen': (id, { notifications }) => {
    if (notifications?.promptsListChanged !== true) return send({ id, result: {} });
    listening = id;
    const params = { notifications: { ...notifications, secret }, _meta: { [subscriptionId]: id } };
    send({ method: 'notifications/subscriptions/acknowledged', params });
  },
  'x/ask': (id, { ids }) => {
    write(JSON.stringify(ids.map((own) => ({ jsonrpc: '2.0', id: own, method: 'roots/list', params: {} }))));
    send({ id, result: {} });
  },
  'x/cancel': (id, { ids }) => {
    for (const requestId of ids) send({ method: 'notifications/cancelled', params: { requestId, reason: secret } });
    send({ id, result: {} });
  },
  'tasks/result': (id) => send({ id, result: text(secret) }),
};

function take(line) {
  const { id, method, params = {}, result, error } = JSON.parse(line);
  if (method === undefined) {
    const call = asked.get(id);
    if (call !== undefined) send({ id: call, result: text(JSON.stringify(result ?? error)) });
    return;
  }
  if (id === undefined) return;
  (methods[method] ?? ((each) => send({ id: each, result: {} })))(id, params);
}

createInterface({ input: process.stdin })
  .on('line', take)
  .on('close', () => process.exit(0));
