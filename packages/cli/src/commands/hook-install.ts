import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { HookHostName } from '@reeve/contract/names';
import { hookHostNames } from '@reeve/contract/names';
import type { GivenIdentity } from '../agent-identity/identity-options.ts';
import { identityOptions, identityWords } from '../agent-identity/identity-options.ts';
import { UsageError } from '../cli-error.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, number, oneOf, required, text } from '../command-line/values.ts';
import { reeveFolder } from '../context/reeve-folder.ts';
import { withHooks, withoutHooks } from '../hook/install/change-hooks.ts';
import { hookCommandLine } from '../hook/install/hook-command-line.ts';
import type { InstallScope } from '../hook/install/host-settings.ts';
import { hostSettings } from '../hook/install/host-settings.ts';
import { readSettings, writeSettings } from '../hook/install/settings-file.ts';
import { cleanText } from '../output/clean-text.ts';
import { note, print } from '../output/print.ts';
import { ownFiles } from '../own-command.ts';
import { requireProof } from '../run/examine-machine.ts';
import { FloorError } from '../run/floor-error.ts';
import { findProgram } from '../run/jail/find-program.ts';
import { usualPath } from '../run/usual-path.ts';
import type { Shell } from '../shell.ts';
import { variable } from '../shell.ts';

const args = { host: required(`The coding agent: ${hookHostNames.join(', ')}.`, hookHostNames) };
const where = {
  user: flag('For all projects of this user. The default.'),
  project: flag('For the project in this folder, so that everybody who works on it gets it.'),
  managed: flag(
    'For everybody on this machine, by the managed settings of the host. Needs the rights of an administrator; users cannot take it off.',
  ),
  root: text('DIR', 'With --managed: write below this folder, for an image or a package, and not on this machine.'),
};

export const hookInstallCommand = defineCommand({
  details: [
    'Adds hooks to the settings of a coding agent, so that it asks the gateway before each use of a tool. What is there stays. Run it again to change the options that the hooks get.',
    'Data: {host, file, command, changed, remarks}.',
  ],
  args,
  options: {
    ...where,
    ...identityOptions,
    approvalWait: number('SECS', 'How long a hook waits for an approval. Default: the limit of the host less 5.', {
      min: 0,
      max: 86_400,
    }),
    failOpen: flag('Let tools be used if the gateway cannot be asked.'),
    floor: flag(
      'Have the host run each command of its shell by "reeve run". Refused where this machine has no floor ("reeve run --doctor").',
    ),
    command: text(
      'TEXT',
      'How the host runs this command, as a shell reads it. Default: by the paths of this program; with --project "reeve", by the PATH of each host.',
    ),
  },
  examples: [
    ['reeve hook install claude-code --agent acme/platform/ada', 'all sessions of Claude Code of this user'],
    ['sudo reeve hook install claude-code --managed', 'everybody on this machine; each sets REEVE_AGENT'],
    ['reeve hook install cursor --project', 'everybody who works on this project; each sets REEVE_AGENT'],
  ],
  run: async ({ args: { host: given }, options, globals }, shell) => {
    const host = oneOf(hookHostNames, given, 'HOST');
    const place = placeOf(host, options, shell);
    if (options.floor && options.root === undefined) await requireFloor(shell);
    const words = [host, ...flagWords(options)];
    const program = { scope: place.scope, given: options.command, own: ownFiles() };
    const command = hookCommandLine(words, program);
    const { settings, text: before } = readSettings(place.file);
    const { members, events, remarks } = hostSettings[host];
    const next = withHooks({ ...members, ...settings }, host, events(command));
    const changed = JSON.stringify(next) !== JSON.stringify(settings);
    if (changed) writeSettings(place.file, before, next, place.mode);
    const all = [
      ...remarks[place.scope],
      ...programRemark(command),
      ...ownerRemark(place.scope, program.own, reeveFolder(shell).home),
      ...identityRemark(options, shell),
      ...(options.floor ? floorRemarks : []),
      ...featureRemark(host, place.file),
    ];
    print(shell, globals.output, { host, file: place.file, command, changed, remarks: all }, () =>
      cleanText(`${changed ? 'Wrote' : 'Nothing to change in'} ${place.file}`),
    );
    if (globals.output === 'table') note(shell, ['', ...all.map((remark) => `- ${remark}`)].join('\n'));
    return 0;
  },
});

export const hookUninstallCommand = defineCommand({
  details: [
    'Removes the hooks of Reeve from the settings of a coding agent, and nothing else.',
    'Data: {host, file, changed}.',
  ],
  args,
  options: where,
  examples: [['reeve hook uninstall claude-code', 'this user is no longer governed by hooks']],
  run: async ({ args: { host: given }, options, globals }, shell) => {
    const host = oneOf(hookHostNames, given, 'HOST');
    const { file, mode } = placeOf(host, options, shell);
    const { settings, text } = readSettings(file);
    const next = withoutHooks(settings, host);
    const changed = JSON.stringify(next) !== JSON.stringify(settings);
    if (changed) writeSettings(file, text, next, mode);
    print(shell, globals.output, { host, file, changed }, () =>
      cleanText(changed ? `Removed the hooks of Reeve from ${file}` : `There are no hooks of Reeve in ${file}`),
    );
    return 0;
  },
});

interface Where {
  readonly user: boolean;
  readonly project: boolean;
  readonly managed: boolean;
  readonly root: string | undefined;
}

function placeOf(host: HookHostName, { user, project, managed, root }: Where, shell: Shell) {
  if ([user, project, managed].filter(Boolean).length > 1)
    throw new UsageError('give one of --user, --project and --managed');
  if (root !== undefined && !managed) throw new UsageError('--root belongs to --managed');
  const scope: InstallScope = managed ? 'managed' : project ? 'project' : 'user';
  const path =
    scope === 'managed'
      ? join(root ?? '/', managedPath(host))
      : hostSettings[host].path(scope, reeveFolder(shell).home, shell.env);
  // Settings of a person may hold keys. Those of a project or a machine are shared.
  return { scope, file: resolve(path), mode: scope === 'user' ? 0o600 : 0o644 };
}

function managedPath(host: HookHostName): string {
  const { managed } = hostSettings[host];
  const { platform } = process;
  if (managed === undefined)
    throw new UsageError(
      `${host} takes managed hooks in requirements.toml: docs/guides/coding-agents.md has the lines`,
    );
  return managed[platform === 'darwin' || platform === 'win32' ? platform : 'linux'];
}

/** Managed settings hold as well as the program that they name. */
function ownerRemark(scope: InstallScope, own: readonly string[], home: string): readonly string[] {
  const inHome = own.find((file) => file.startsWith(`${home}/`));
  if (scope !== 'managed' || inHome === undefined) return [];
  return [`${inHome} is in a home, so its owner can change it. Install Reeve where only an administrator can write.`];
}

/** Each command would be refused otherwise, one by one. */
async function requireFloor({ env }: Shell): Promise<void> {
  const path = env['PATH'] ?? usualPath;
  await requireProof(path, []);
  if (findProgram('bash', path, []) === undefined) throw new FloorError('the floor needs bash, and the PATH has none');
}

const floorRemarks = [
  'Each command is checked once more, as "bash -c COMMAND": policy has to allow that too. docs/guides/coding-agents.md says what to write.',
  'Turn off a sandbox of the host itself: inside of one, "reeve run" cannot start.',
];

interface Flags extends GivenIdentity {
  readonly approvalWait: number | undefined;
  readonly failOpen: boolean;
  readonly floor: boolean;
}

function flagWords({ approvalWait, failOpen, floor, ...identity }: Flags): readonly string[] {
  return [
    ...identityWords(identity),
    ...(approvalWait === undefined ? [] : ['--approval-wait', String(approvalWait)]),
    ...(failOpen ? ['--fail-open'] : []),
    ...(floor ? ['--floor'] : []),
  ];
}

function programRemark(command: string): readonly string[] {
  if (!command.startsWith('reeve ')) return [];
  return [
    'The hooks run "reeve" as the PATH of the host finds it. Where it finds none, every tool use is blocked: --command names another program.',
  ];
}

function identityRemark({ agent, agentTokenFile }: Flags, shell: Shell): readonly string[] {
  const isKnown = [agent, agentTokenFile, variable(shell, 'REEVE_AGENT'), variable(shell, 'REEVE_AGENT_TOKEN')];
  if (isKnown.some((value) => value !== undefined)) return [];
  return [
    'Say as which agent it acts: install with --agent ORG/TEAM/AGENT, or set REEVE_AGENT or REEVE_AGENT_TOKEN where the host starts. Until then every tool use is denied.',
  ];
}

/** Codex has a switch that turns all hooks off. */
function featureRemark(host: HookHostName, file: string): readonly string[] {
  const config = join(dirname(file), 'config.toml');
  if (host !== 'codex' || !existsSync(config)) return [];
  const isOff = /^[ \t]*(?:codex_)?hooks[ \t]*=[ \t]*false\b/m.test(readFileSync(config, 'utf8'));
  return isOff ? [`${config} turns hooks off (features.hooks = false): remove that line.`] : [];
}
