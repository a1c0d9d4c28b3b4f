// What the conformance suite of MCP asks of a server, on the official SDK: over Streamable HTTP, or with --stdio.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import * as schemas from '@modelcontextprotocol/sdk/types.js';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const silence = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=';

const text = (value) => ({ type: 'text', text: value });
const image = { type: 'image', data: pixel, mimeType: 'image/png' };
const resource = (uri, mimeType, content) => ({ type: 'resource', resource: { uri, mimeType, text: content } });
const options = ['option1', 'option2', 'option3'];
const titled = ['value1', 'value2', 'value3'].map((value) => ({ const: value, title: `The ${value}` }));

const asked = {
  test_elicitation_sep1034_defaults: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled } },
  },
};

async function elicited(extra, message, properties, required) {
  const requestedSchema = { type: 'object', properties, ...(required === undefined ? {} : { required }) };
  const request = { method: 'elicitation/create', params: { message, requestedSchema } };
  const { action, content } = await extra.sendRequest(request, schemas.ElicitResultSchema);
  return [text(`User response: action=${action}, content=${JSON.stringify(content)}`)];
}

const tools = {
  test_simple_text: () => [text('This is a simple text response for testing.')],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: 'audio', data: silence, mimeType: 'audio/wav' }],
  test_embedded_resource: () => [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource.')],
  test_multiple_content_types: () => [
    text('Several kinds:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data"}'),
  ],
  test_tool_with_logging: async (_args, extra) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
      await sleep(50);
    }
    return [text('logged')];
  },
  test_error_handling: () => {
    throw new Error('This tool intentionally returns an error for testing');
  },
  test_tool_with_progress: async (_args, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100 };
      if (progressToken !== undefined) await extra.sendNotification({ method: 'notifications/progress', params });
      await sleep(50);
    }
    return [text('done')];
  },
  test_sampling: async ({ prompt }, extra) => {
    const messages = [{ role: 'user', content: text(prompt) }];
    const request = { method: 'sampling/createMessage', params: { messages, maxTokens: 100 } };
    const { content } = await extra.sendRequest(request, schemas.CreateMessageResultSchema);
    return [text(`LLM response: ${content.text}`)];
  },
  test_elicitation: ({ message }, extra) => {
    const field = { type: 'string' };
    return elicited(extra, message, { username: field, email: field }, ['username', 'email']);
  },
  test_elicitation_sep1034_defaults: (_args, extra) =>
    elicited(extra, 'With defaults', asked.test_elicitation_sep1034_defaults),
  test_elicitation_sep1330_enums: (_args, extra) => elicited(extra, 'With enums', asked.test_elicitation_sep1330_enums),
  // The client comes back for the answer (SEP-1699).
  test_reconnection: async (_args, extra) => {
    extra.closeSSEStream?.();
    await sleep(100);
    return [text('after the reconnection')];
  },
  json_schema_2020_12_tool: () => [text('fine')],
};

const plainSchema = { type: 'object', properties: {} };
const modernSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
};

const prompts = {
  test_simple_prompt: () => [text('This is a simple prompt for testing.')],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  test_prompt_with_embedded_resource: ({ resourceUri }) => [
    resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
    text('Please process the embedded resource above.'),
  ],
  test_prompt_with_image: () => [image, text('Please analyze the image above.')],
};
const promptArguments = {
  test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'],
};

function contentsOf(uri) {
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: pixel };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id === undefined)
    return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
  return { uri, mimeType: 'application/json', text: JSON.stringify({ id, data: `Data for ID: ${id}` }) };
}

function build() {
  const capabilities = {
    tools: {},
    prompts: {},
    resources: { subscribe: true },
    logging: {},
    completions: {},
  };
  const server = new Server({ name: 'reference', version: '1' }, { capabilities });
  const named = (name) => ({ name, description: `What the suite calls ${name}.` });
  server.setRequestHandler(schemas.ListToolsRequestSchema, () => ({
    tools: Object.keys(tools).map((name) => ({
      ...named(name),
      inputSchema: name === 'json_schema_2020_12_tool' ? modernSchema : plainSchema,
    })),
  }));
  server.setRequestHandler(schemas.CallToolRequestSchema, async ({ params }, extra) => {
    try {
      return { content: await tools[params.name](params.arguments ?? {}, extra) };
    } catch (error) {
      return { isError: true, content: [text(error.message)] };
    }
  });
  server.setRequestHandler(schemas.ListPromptsRequestSchema, () => ({
    prompts: Object.keys(prompts).map((name) => ({
      ...named(name),
      arguments: (promptArguments[name] ?? []).map((argument) => ({ name: argument, required: true })),
    })),
  }));
  server.setRequestHandler(schemas.GetPromptRequestSchema, ({ params }) => ({
    messages: prompts[params.name](params.arguments ?? {}).map((content) => ({ role: 'user', content })),
  }));
  const uris = ['test://static-text', 'test://static-binary', 'test://watched-resource'];
  server.setRequestHandler(schemas.ListResourcesRequestSchema, () => ({
    resources: uris.map((uri) => ({ uri, ...named(uri), mimeType: 'text/plain' })),
  }));
  server.setRequestHandler(schemas.ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', ...named('template') }],
  }));
  server.setRequestHandler(schemas.ReadResourceRequestSchema, ({ params }) => ({ contents: [contentsOf(params.uri)] }));
  server.setRequestHandler(schemas.SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(schemas.UnsubscribeRequestSchema, () => ({}));
  server.setRequestHandler(schemas.SetLevelRequestSchema, () => ({}));
  server.setRequestHandler(schemas.CompleteRequestSchema, () => ({
    completion: { values: ['paris'], hasMore: false },
  }));
  return server;
}

/** Keeps events, so that streams can be resumed. */
function eventStore() {
  const events = [];
  return {
    storeEvent: async (streamId, message) => {
      const id = `${events.length}_${randomUUID()}`;
      events.push({ id, streamId, message });
      return id;
    },
    getStreamIdForEventId: async (eventId) => events.find(({ id }) => id === eventId)?.streamId,
    replayEventsAfter: async (lastId, { send }) => {
      const at = events.findIndex(({ id }) => id === lastId);
      const streamId = events[at]?.streamId;
      for (const event of events.slice(at + 1)) {
        const isPriming = Object.keys(event.message).length === 0;
        if (event.streamId === streamId && !isPriming) await send(event.id, event.message);
      }
      return streamId;
    },
  };
}

function listen() {
  const transports = new Map();
  const answer = async (request, response) => {
    const known = transports.get(request.headers['mcp-session-id']);
    if (known !== undefined) return known.handleRequest(request, response);
    if (request.headers['mcp-session-id'] !== undefined) return response.writeHead(404).end();
    const { port } = server.address();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: eventStore(),
      retryInterval: 500,
      enableDnsRebindingProtection: true,
      allowedHosts: [`127.0.0.1:${port}`, `localhost:${port}`],
      allowedOrigins: [`http://127.0.0.1:${port}`, `http://localhost:${port}`],
      onsessioninitialized: (id) => transports.set(id, transport),
    });
    await build().connect(transport);
    return transport.handleRequest(request, response);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
}

if (process.argv.includes('--stdio')) await build().connect(new StdioServerTransport());
else listen();
