// A provider of models for the benchmark: streams events at a fixed pace, and the usage at the end.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const chunk = (choices: readonly unknown[], usage: unknown = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-5', choices, usage })}\n\n`;
const event = chunk([{ index: 0, delta: { content: ' a token or two' }, finish_reason: null }]);
const last = `${chunk([], { prompt_tokens: 1000, completion_tokens: 100 })}data: [DONE]\n\n`;

const server = createServer((request, response) => {
  // `seed` carries how long the stream is; providers take any number there.
  const chunks: Buffer[] = [];
  request.on('data', (part: Buffer) => chunks.push(part));
  request.on('end', () => {
    const { seed = 1 } = JSON.parse(Buffer.concat(chunks).toString()) as { seed?: number };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let left = seed;
    const more = () => {
      response.write(event);
      if (--left > 0) setTimeout(more, 20);
      else response.end(last);
    };
    more();
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ event: 'listening', http: `http://127.0.0.1:${port}`, grpc: '' })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
