/** A client of `mcp serve` that sends what a test tells it to. */
export class McpVisitor {
  readonly url: string;
  session: string | undefined;
  #last = 0;

  constructor(base: string, server: string) {
    this.url = `${base}/mcp/${server}`;
  }

  send(body: unknown, token: string | undefined, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(this.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(this.session === undefined ? {} : { 'mcp-session-id': this.session }),
        ...headers,
      },
      body: JSON.stringify(body),
    });
  }

  async open(token: string | undefined, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    this.session = undefined;
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'visitor', version: '1' } };
    const answer = await this.send({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params }, token, headers);
    this.session = answer.headers.get('mcp-session-id') ?? undefined;
    if (this.session !== undefined)
      await this.send({ jsonrpc: '2.0', method: 'notifications/initialized' }, token, headers);
    return answer;
  }

  call(
    token: string | undefined,
    headers: Readonly<Record<string, string>> = {},
    args: object = {},
  ): Promise<Response> {
    const params = { name: 'echo', arguments: args };
    return this.send({ jsonrpc: '2.0', id: ++this.#last, method: 'tools/call', params }, token, headers);
  }

  /** Opens a session, calls the tool, and returns what the client reads. */
  async text(token: string | undefined, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const opened = await this.open(token, headers);
    const said = await opened.text();
    return said.includes('"error"') ? said : (await this.call(token, headers)).text();
  }
}
