import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@reeve/gateway';
import { defineCommand } from '../command-line/command.ts';
import { flag, text } from '../command-line/values.ts';
import { demoPolicies } from '../demo/demo-policies.ts';
import type { DemoLogin } from '../demo/prepare-demo.ts';
import { prepareDemo } from '../demo/prepare-demo.ts';
import { play } from '../demo/play.ts';
import { DemoIssuer } from '../demo/identities/demo-issuer.ts';
import { writeIdentityFiles } from '../demo/identities/identity-files.ts';
import { playIdentities } from '../demo/identities/play-identities.ts';
import { playDoors } from '../demo/doors/play-doors.ts';
import { note } from '../output/print.ts';
import { typedCommand } from '../own-command.ts';
import type { Shell } from '../shell.ts';
import { dashboardFiles } from '../shipped-files.ts';

export const demoCommand = defineCommand({
  details: [
    'Starts a gateway in a temporary folder with three demo orgs and more than a dozen agents. Most use the real SDK; three know nothing of Reeve and come through the other doors: "reeve mcp run", "reeve llm serve" and "reeve hook claude-code". They work, ask for approval, spend, are denied, ignore a stop, and one tries to impersonate another. One reads a page in which somebody hid orders, and may send nothing away from then on. One acts for two people and delegates to another, and a job of a CI system has a JWT in place of a secret; an issuer on this machine vouches for them. Models and MCP server are made up and on this machine. Prints the address of the dashboard and a login, and runs until it is interrupted; then everything is removed.',
    'Nothing of your own configuration is read or changed. Data: {http, grpc, email, password, api_key}.',
  ],
  args: {},
  options: {
    http: text(
      'ADDRESS',
      'Where the dashboard listens. Default: 127.0.0.1:8080, or a free port if that one is in use.',
    ),
    grpc: text('ADDRESS', 'Where agents connect. Default: 127.0.0.1:50051, or a free port if that one is in use.'),
    keep: flag('Leave the folder, with the audit log, when it ends.'),
  },
  examples: [
    ['reeve demo', 'then open the printed address'],
    ['reeve demo --http 127.0.0.1:0 --grpc 127.0.0.1:0 --output json', 'free ports, for a program'],
  ],
  run: async ({ options: { http, grpc, keep }, globals: { output } }, shell) => {
    const folder = mkdtempSync(join(tmpdir(), 'reeve-demo-'));
    const policies = join(folder, 'policies');
    mkdirSync(policies);
    for (const [name, source] of Object.entries(demoPolicies)) writeFileSync(join(policies, name), source);
    await using issuer = await DemoIssuer.start();
    const ended = new AbortController();
    let playing: Promise<void> = Promise.resolve();
    try {
      const flags = {
        '--data': folder,
        ...writeIdentityFiles(folder, issuer),
        // A gateway that runs here already keeps its ports.
        '--http': http ?? (await freeAddress(8080)),
        '--grpc': grpc ?? (await freeAddress(50051)),
      };
      return await serve({ flags }, dashboardFiles, {
        // A demo ignores the environment, so that it never touches a real gateway.
        env: { SVC_LOG_LEVEL: 'error', SVC_CONTROL_ACK_SECS: '5', SVC_OPS_TTL_SECS: '30' },
        onListening: (place) => {
          playing = begin(shell, output === 'table', { ...place, folder, issuer }, ended.signal).catch(
            (error: unknown) => {
              note(shell, `The demo has stopped: ${error instanceof Error ? error.message : String(error)}`);
            },
          );
        },
        onStopping: async () => {
          ended.abort();
          await playing;
        },
      });
    } finally {
      ended.abort();
      if (keep) note(shell, `Kept: ${folder}`);
      else {
        rmSync(folder, { recursive: true, force: true });
        note(shell, `Removed: ${folder}, with everything that the demo had made`);
      }
    }
  },
});

/** This port of the loopback address, or any free one. */
async function freeAddress(port: number): Promise<string> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
  return `127.0.0.1:${isFree ? port : 0}`;
}

interface StartedGateway {
  readonly http: string;
  readonly grpc: string;
  readonly madeKey: string | undefined;
  readonly folder: string;
  readonly issuer: DemoIssuer;
}

async function begin(shell: Shell, isForPeople: boolean, place: StartedGateway, signal: AbortSignal): Promise<void> {
  const { http, grpc, madeKey = '' } = place;
  const { login, keyOf, colleague } = await prepareDemo(http, madeKey);
  const folder = join(place.folder, 'doors');
  const tell = (line: string) => note(shell, line);
  const playing = Promise.all([
    play(grpc, keyOf, signal),
    playDoors({ shell, http, grpc, keyOf, colleague, folder, signal, tell }),
    playIdentities({ grpc, keyOf, issuer: place.issuer, signal, tell }),
  ]);
  const data = { http, grpc, ...login, api_key: madeKey };
  shell.stdout.write(
    isForPeople ? startedText(http, login, madeKey, typedCommand(shell)) : `${JSON.stringify(data)}\n`,
  );
  await playing;
}

function startedText(http: string, { email, password }: DemoLogin, key: string, command: string): string {
  return `
  Reeve's demo is running: three orgs, eighteen agents and the people they act for, all of it made up and on this machine.

    Dashboard  ${http}
    Email      ${email}
    Password   ${password}

  In another terminal:

    REEVE_API_URL=${http} REEVE_API_KEY=${key} ${command} ops watch

  Ctrl-C ends it and removes everything.

`;
}
