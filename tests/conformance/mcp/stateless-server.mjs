// What the conformance suite of MCP asks of a server of revision 2026-07-28, on the official SDK: over HTTP, or with --stdio.
import { createServer } from 'node:http';
import {
  acceptedContent,
  completable,
  createMcpHandler,
  createRequestStateCodec,
  fromJsonSchema,
  hostHeaderValidationResponse,
  inputRequired,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
  originValidationResponse,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';
const text = (value) => ({ type: 'text', text: value });
const answer = (...content) => ({ content });
const image = { type: 'image', data: pixel, mimeType: 'image/png' };
const resource = (uri, mimeType, content) => ({ type: 'resource', resource: { uri, mimeType, text: content } });
const schema = (properties, required = []) => ({ type: 'object', properties, required });
const nothing = fromJsonSchema(schema({}));

const codec = createRequestStateCodec({ key: 'a key of the conformance run, known to nobody else' });
const cacheable = { ttlMs: 1000, cacheScope: 'private' };
const cached = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'resources/read'];

const nameSchema = schema({ name: { type: 'string' } }, ['name']);
const askName = () => inputRequired.elicit({ message: 'What is your name?', requestedSchema: nameSchema });
const askModel = (about, maxTokens = 100) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text(about) }], maxTokens },
});
const roots = { method: 'roots/list', params: {} };

/** Tells those who listen over HTTP. */
let changed = { toolsChanged() {}, promptsChanged() {} };

/** Asks for these, and answers once all of them are there. With a state if it has one. */
async function once(ctx, inputRequests, complete, state) {
  const { inputResponses = {} } = ctx.mcpReq;
  if (Object.keys(inputRequests).every((key) => inputResponses[key] !== undefined)) return complete(inputResponses);
  const requestState = state === undefined ? {} : { requestState: await codec.mint(state, ctx) };
  return inputRequired({ inputRequests, ...requestState });
}

const confirm = inputRequired.elicit({
  message: 'Please confirm',
  requestedSchema: schema({ ok: { type: 'boolean' } }, ['ok']),
});

const tools = {
  test_simple_text: () => answer(text('This is a simple text response for testing.')),
  test_image_content: () => answer(image),
  test_audio_content: () => answer({ type: 'audio', data: silence, mimeType: 'audio/wav' }),
  test_embedded_resource: () => answer(resource('test://embedded-resource', 'text/plain', 'An embedded resource.')),
  test_multiple_content_types: () =>
    answer(text('Several kinds:'), image, resource('test://mixed', 'application/json', '{"test":"data"}')),
  test_error_handling: () => ({
    isError: true,
    ...answer(text('This tool intentionally returns an error for testing')),
  }),
  test_tool_with_progress: async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 };
      if (progressToken !== undefined) await ctx.mcpReq.notify({ method: 'notifications/progress', params });
      await sleep(50);
    }
    return answer(text('done'));
  },
  test_logging_tool: async (ctx) => {
    await ctx.mcpReq.log('info', 'a line');
    return answer(text('logged'));
  },
  test_streaming_elicitation: (ctx) => once(ctx, { user_name: askName() }, () => answer(text('done'))),
  // The SDK refuses to ask for what the client has not declared.
  test_missing_capability: (ctx) =>
    once(ctx, { greeting: askModel('Generate a greeting') }, () => answer(text('fine'))),
  test_trigger_tool_change: (_ctx, server) => {
    server.sendToolListChanged();
    changed.toolsChanged();
    return answer(text('changed'));
  },
  test_trigger_prompt_change: (_ctx, server) => {
    server.sendPromptListChanged();
    changed.promptsChanged();
    return answer(text('changed'));
  },
  test_input_required_result_elicitation: (ctx) => {
    const given = acceptedContent(ctx.mcpReq.inputResponses, 'user_name', fromJsonSchema(nameSchema));
    if (given !== undefined) return answer(text(`Hello, ${given.name}!`));
    return inputRequired({ inputRequests: { user_name: askName() } });
  },
  test_input_required_result_sampling: (ctx) =>
    once(ctx, { capital_question: askModel('What is the capital of France?') }, ({ capital_question: { content } }) =>
      answer(text(content?.text ?? 'nothing')),
    ),
  test_input_required_result_list_roots: (ctx) =>
    once(ctx, { client_roots: roots }, ({ client_roots }) => answer(text(JSON.stringify(client_roots)))),
  test_input_required_result_request_state: (ctx) =>
    once(ctx, { confirm }, () => answer(text('state-ok')), { round: 1 }),
  test_input_required_result_tampered_state: (ctx) => once(ctx, { confirm }, () => answer(text('fine')), { round: 1 }),
  test_input_required_result_multiple_inputs: (ctx) => {
    const all = { user_name: askName(), greeting: askModel('Generate a greeting', 50), client_roots: roots };
    return once(ctx, all, () => answer(text('all there')), { round: 1 });
  },
  test_input_required_result_multi_round: async (ctx) => {
    const { inputResponses = {} } = ctx.mcpReq;
    if (inputResponses.step2 !== undefined) return answer(text('both rounds'));
    if (inputResponses.step1 === undefined) {
      const step1 = inputRequired.elicit({ message: 'Step 1: What is your name?', requestedSchema: nameSchema });
      return inputRequired({ inputRequests: { step1 }, requestState: await codec.mint({ round: 1 }, ctx) });
    }
    const requestedSchema = schema({ color: { type: 'string' } }, ['color']);
    const step2 = inputRequired.elicit({ message: 'Step 2: What is your favorite color?', requestedSchema });
    return inputRequired({ inputRequests: { step2 }, requestState: await codec.mint({ round: 2 }, ctx) });
  },
  test_input_required_result_capabilities: (ctx) =>
    once(ctx, { greeting: askModel('Generate a greeting') }, () => answer(text('fine'))),
  json_schema_2020_12_tool: () => answer(text('fine')),
};

const written = { type: 'string' };
const modernSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: written, city: written } } },
  properties: {
    name: written,
    address: { $ref: '#/$defs/address' },
    contactMethod: { enum: ['phone', 'email'] },
    phone: written,
    email: written,
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // A member of JSON Schema.
  // oxlint-disable-next-line unicorn/no-thenable
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const schemas = {
  json_schema_2020_12_tool: fromJsonSchema(modernSchema),
  test_simple_text: fromJsonSchema(schema({ region: { type: 'string', 'x-mcp-header': 'Region' } })),
};

function build() {
  const capabilities = {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: {},
    completions: {},
    logging: {},
  };
  const cacheHints = Object.fromEntries(cached.map((method) => [method, cacheable]));
  const server = new McpServer(
    { name: 'stateless-reference', version: '1' },
    { capabilities, requestState: { verify: codec.verify }, cacheHints },
  );
  for (const [name, run] of Object.entries(tools)) {
    const about = { description: `What the suite calls ${name}.` };
    server.registerTool(name, { ...about, inputSchema: schemas[name] ?? nothing }, (_args, ctx) => run(ctx, server));
  }
  registerPrompts(server);
  registerResources(server);
  return server;
}

function registerPrompts(server) {
  const said = (...all) => ({ messages: all.map((content) => ({ role: 'user', content })) });
  const about = (name) => ({ description: `What the suite calls ${name}.` });
  server.registerPrompt('test_simple_prompt', about('it'), () => said(text('This is a simple prompt for testing.')));
  const word = completable(z.string(), () => ['paris']);
  const two = z.object({ arg1: word, arg2: z.string() });
  server.registerPrompt('test_prompt_with_arguments', { ...about('it'), argsSchema: two }, ({ arg1, arg2 }) =>
    said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  const one = z.object({ resourceUri: z.string() });
  server.registerPrompt('test_prompt_with_embedded_resource', { ...about('it'), argsSchema: one }, ({ resourceUri }) =>
    said(resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'), text('Please process it.')),
  );
  server.registerPrompt('test_prompt_with_image', about('it'), () =>
    said(image, text('Please analyze the image above.')),
  );
  server.registerPrompt('test_input_required_result_prompt', about('it'), (ctx) => {
    const requestedSchema = schema({ context: { type: 'string' } }, ['context']);
    const user_context = inputRequired.elicit({ message: 'What context should the prompt use?', requestedSchema });
    return once(ctx, { user_context }, () => said(text('in this context')));
  });
}

function registerResources(server) {
  const plain = (uri, value) => ({ contents: [{ uri, mimeType: 'text/plain', text: value }] });
  server.registerResource('static-text', 'test://static-text', { mimeType: 'text/plain' }, () =>
    plain('test://static-text', 'This is the content of the static text resource.'),
  );
  server.registerResource('static-binary', 'test://static-binary', { mimeType: 'image/png' }, () => ({
    contents: [{ uri: 'test://static-binary', mimeType: 'image/png', blob: pixel }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { mimeType: 'application/json' }, ({ href }, { id }) => ({
    contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify({ id, data: `Data for ID: ${id}` }) }],
  }));
}

function listen() {
  const handler = createMcpHandler(build);
  changed = handler.notify;
  const answerTo = async (request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, headers } = request;
    const body = method === 'POST' ? Buffer.concat(chunks) : undefined;
    const sent = new Request(`http://${headers.host}${request.url}`, { method, headers, body, signal: gone.signal });
    const refused =
      hostHeaderValidationResponse(sent, localhostAllowedHostnames()) ??
      originValidationResponse(sent, localhostAllowedOrigins());
    const given = refused ?? (await handler.fetch(sent));
    response.writeHead(given.status, Object.fromEntries(given.headers));
    response.flushHeaders();
    if (given.body !== null) for await (const chunk of given.body) response.write(chunk);
    response.end();
  };
  const server = createServer((request, response) => {
    answerTo(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}

if (process.argv.includes('--stdio')) serveStdio(build);
else listen();
