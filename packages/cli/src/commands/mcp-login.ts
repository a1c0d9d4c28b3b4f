import { logIn, TokenFailure } from '@reeve/proxy/mcp';
import { CliError, UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { required, text } from '../command-line/values.ts';
import { loginKey } from '../mcp/login-key.ts';
import { sealedLogin } from '../mcp/sealed-login.ts';
import { serversFileAt } from '../mcp/servers.ts';
import { cleanLines } from '../output/clean-text.ts';
import { note, print } from '../output/print.ts';
import { withLoopbackRedirect } from '../sign-on/loopback-redirect.ts';

const words = {
  done: 'You are logged in. You can close this window.',
  late: 'nobody has logged in by the browser within ten minutes',
};

export const mcpLoginCommand = defineCommand({
  details: [
    'For a server of the file with auth: {type: person}. Finds out where the server has its people log in, shows an address for the browser on this computer, and keeps the tokens on this machine, sealed, in ~/.reeve. "reeve mcp run" and "reeve mcp serve" use them and renew them. Needs no gateway. Data: {server, issuer, scope, expires_at, renews, key}.',
    'The key that seals them is in the keyring of the system, by secret-tool (Linux) or security (macOS), where there is one that answers; else in ~/.reeve/mcp.key, 0600. A key file that exists goes on to be used. REEVE_MCP_KEY_FILE names another file, REEVE_MCP_KEYRING=off uses no keyring. The program is looked for in /usr/bin, /bin, /usr/local/bin and /run/current-system/sw/bin, never on the PATH; REEVE_MCP_KEYRING may name another by its whole path. "reeve doctor" says where the key is.',
    'With issuer in auth, only that authorization server is trusted, whatever the MCP server names. Set it where there is a client secret.',
  ],
  args: { server: required('The name of the server in the file.') },
  options: { config: text('FILE', 'The file with the servers.', { completes: 'file' }) },
  examples: [['reeve mcp login tickets --config mcp.yaml', 'as yourself, by the browser']],
  run: async ({ args, options, globals }, shell) => {
    if (options.config === undefined) throw new UsageError('--config FILE is missing');
    const spec = (await serversFileAt(shell, options.config)).servers.get(args.server);
    if (spec === undefined) throw new UsageError(`${options.config} has no server ${args.server}`);
    const auth = 'url' in spec ? spec.auth : undefined;
    if (!('url' in spec) || auth?.type !== 'person') {
      throw new UsageError(`${args.server} has no auth of type person in ${options.config}`);
    }
    const store = sealedLogin(shell, spec.url);
    if (auth.clientSecret !== undefined && auth.issuer === undefined) {
      note(
        shell,
        `The client secret goes to whichever authorization server ${args.server} names. Pin it: set auth.issuer in ${options.config}.`,
      );
    }
    const login = await withLoopbackRedirect(words, async ({ port, answer }) =>
      logIn(spec.url, auth, await store.read(), {
        redirectUri: `http://127.0.0.1:${port}/callback`,
        ask: (url, state) => {
          note(shell, `Open this address in a browser on this computer:\n\n  ${cleanLines(url.href)}\n`);
          return answer(state, (given) => given.has('code') || given.has('error'));
        },
      }),
    ).catch((error: unknown) => {
      if (!(error instanceof TokenFailure)) throw error;
      throw new CliError(cleanLines(`cannot log in to ${args.server}: ${error.message}`), { cause: error });
    });
    await store.change(async () => login);
    const expires = login.expiresAt === undefined ? null : new Date(login.expiresAt).toISOString();
    const renews = login.refreshToken !== undefined;
    const { place: key, noKeyring } = await loginKey(shell);
    if (noKeyring !== undefined)
      note(shell, `No keyring has the key of your logins, as ${noKeyring}. It is in ${key}.`);
    const { issuer, scope = null } = login;
    const data = { server: args.server, issuer, scope, expires_at: expires, renews, key };
    print(shell, globals.output, data, () => {
      const until = renews ? 'it is renewed by itself' : expires === null ? 'its end is not known' : `until ${expires}`;
      return `logged in to ${args.server} at ${cleanLines(issuer)}: ${until}; the key is in ${key}`;
    });
    return 0;
  },
});
