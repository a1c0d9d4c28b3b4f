// Whether the gateway in this container lives: /healthz at SVC_HTTP_ADDR, by TLS if it has a certificate. Exit code 0 or 1,
// as HEALTHCHECK of the image wants it.
import http from 'node:http';
import https from 'node:https';

const { SVC_HTTP_ADDR: address = '', SVC_TLS_CERT: certificate = '' } = process.env;
const [, host = '', port = '8080'] = /^(.*):(\d+)$/.exec(address) ?? [];
const isEverywhere = ['', '0.0.0.0', '[::]'].includes(host);
const options = {
  host: isEverywhere ? '127.0.0.1' : host.replace(/^\[|\]$/g, ''),
  port: Number(port),
  path: '/healthz',
  timeout: 4000,
  // A certificate is for the public name. What is asked here is this machine itself.
  rejectUnauthorized: false,
};
const client = certificate === '' ? http : https;
const request = client.get(options, (answer) => process.exit(answer.statusCode === 200 ? 0 : 1));
request.on('timeout', () => request.destroy());
request.on('error', () => process.exit(1));
