// Whether the gateway in this container lives: /healthz on the port of SVC_HTTP_ADDR, by TLS if it has a certificate.
// Exit code 0 or 1, as HEALTHCHECK of the image wants it.
import http from 'node:http';
import https from 'node:https';

const { SVC_HTTP_ADDR: address = '', SVC_TLS_CERT: certificate = '' } = process.env;
const isSecure = certificate !== '';
const options = {
  // A certificate is for the public name. What is asked here is this machine itself.
  rejectUnauthorized: false,
  host: '127.0.0.1',
  port: Number(/:(\d+)$/.exec(address)?.[1] ?? 8080),
  path: '/healthz',
  timeout: 4000,
};
const request = (isSecure ? https : http).get(options, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1));
request.on('timeout', () => request.destroy());
request.on('error', () => process.exit(1));
