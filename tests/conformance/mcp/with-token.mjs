// A door to a proxy that adds a token, because the suite cannot send one. Everything else passes as it is.
import { createServer, request as send } from 'node:http';

const [, , target, token] = process.argv;
const { hostname, port, pathname } = new URL(target);

const server = createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  const passed = send({ hostname, port, path: pathname, method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  response.on('close', () => passed.destroy());
  request.pipe(passed);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/mcp`));
