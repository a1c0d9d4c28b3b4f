// Writes docs/reference from what it documents: the settings, the protos, the routes of the HTTP API, the problems, the
// metrics of a running gateway, the audit event types, the command's own help.
// With --check it writes nothing and fails when what is committed differs.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { paths } from '@reeve/contract';
import type { SealedEntry } from '@reeve/core';
import { describeSettings } from '@reeve/gateway';
import { httpPage } from './reference/http.ts';
import { metricsPage } from './reference/metrics.ts';
import { code, page, prose, section, table } from './reference/page.ts';
import { problemsPage } from './reference/problems.ts';

const folder = 'docs/reference';

function configuration(): string {
  const rows = (idle: boolean) =>
    describeSettings()
      .filter((setting) => setting.idle === idle)
      .map(({ flag, variable, key, byDefault, help }) => [
        ...[variable, flag, key, byDefault].map(code),
        `${prose(help)}${idle ? ' **No effect in this version.**' : ''}`,
      ]);
  const header = ['Variable', 'Flag', 'Key in the file', 'Default', 'Meaning'];
  return page(
    'Configuration',
    'Every setting of `reeve serve`. A flag comes before a variable, a variable before the file, the file before the default. ' +
      'The file is YAML and is given by `--config`. An empty variable counts as unset.',
    'A value that is not accepted, an unknown key of the file and an unknown variable that starts with `SVC_` stop the start ' +
      'with one line and exit code 2. The line names the setting and shows the value, unless the setting may hold a secret.',
    '## In force',
    table(header, rows(false)),
    '## Accepted, without effect in this version',
    'These are read and checked, so that a configuration can be prepared. The gateway logs a warning for each that is set.',
    table(header, rows(true)),
  );
}

type EventType = SealedEntry['draft']['eventType'];
type EventText = readonly [when: string, payload: string] | null;

const asked =
  '`action` (what was asked, secrets replaced), `resource`, `digest`, `cost_micros`, `op_state`; where there are any `run_id`, `summary`, `caller`; `replay` for a repeated check.';
const claimed = '`action_type`, `claimed_org_id`, `claimed_team_id`, `claimed_agent_id`';
const key = '`key_id`, `label`, `scopes`; over HTTP `request_id`';

/** When each event is written, and what its payload holds; null where this version never writes it. */
const events: Readonly<Record<EventType, EventText> & Record<string, EventText>> = {
  ActionAllowed: ['A check was answered ALLOW.', asked],
  ActionDenied: [
    'A check was answered DENY: by policy, by a replay, or because the identity failed.',
    `${asked} After a failed identity: ${claimed}.`,
  ],
  ActionPending: null,
  A2AImpersonationAttempted: [
    'A check was denied because the token belongs to another agent than the claimed one. The lineage is the real owner’s.',
    `${claimed}, \`owner_org_id\`, \`owner_team_id\`, \`owner_agent_id\`.`,
  ],
  AgentRegistered: [
    'An agent was registered, or registered again with a new token.',
    '`created`, `name`, `framework`, `version`, `parent`.',
  ],
  AgentDeregistered: ['An agent ended its registration.', 'Empty. The reason it gave is the `reason` of the entry.'],
  AgentSuspended: ['An operator suspended an agent.', '`request_id`.'],
  AgentResumed: ['An operator lifted a suspension.', '`request_id`.'],
  OpStateChanged: [
    'An operation moved without a decision: its agent completed it, deregistered, was suspended or resumed.',
    '`from`, `to`, `trigger`, `cost_micros`; on completion also `outcome`, `detail`, `reserved_micros`.',
  ],
  PolicyReloaded: [
    'Policies were put in force, at start or after a change.',
    '`documents` (names), `previous_version`.',
  ],
  PolicyReloadFailed: [
    'Policies have errors. After a change those in force stayed; at start this ends the start.',
    '`problems`: up to 20, each with file, line and column.',
  ],
  ApiKeyCreated: ['A key was made over HTTP or installed at start.', `${key}; after a rotation \`rotated_from\`.`],
  ApiKeyRevoked: ['A key was revoked or rotated.', `${key}; after a rotation \`rotated_to\`.`],
  TokenIssued: ['A key was exchanged for a token.', '`key_id`, `token_id`, `scopes`, `request_id`.'],
  SigningKeyRotated: ['Tokens are signed with a new key.', '`kid`; over HTTP `request_id`.'],
  AuditLogCut: [
    'The oldest entries were given up, as the retention settings say.',
    '`through_seq`, `through_hash`: the last entry given up; `removed`: how many; `signature`: a JWS over the first two.',
  ],
};

function auditEvents(): string {
  const all = Object.entries(events).sort(([a], [b]) => (a < b ? -1 : 1));
  const written = all.flatMap(([type, text]) => (text === null ? [] : [[code(type), text[0], text[1]]]));
  const reserved = all.filter(([, text]) => text === null).map(([type]) => code(type));
  return page(
    'Audit events',
    'Each decision writes exactly one entry. Each other change of an operation, an agent, a key or the policies writes one, too. ' +
      'A malformed request writes none: nothing was judged.',
    table(['Event type', 'Written when', 'Payload'], written),
    `Reserved, and never written by this version: ${reserved.join(', ')}.`,
    'The members of an entry are in [concepts](../concepts.md#audit-chain).',
  );
}

function cli(): string {
  const help = (...args: string[]) =>
    execFileSync('node_modules/.bin/reeve', [...args, '--help'], { encoding: 'utf8' }).trimEnd();
  const block = (title: string, text: string) => `## ${title}\n\n\`\`\`text\n${text}\n\`\`\``;
  const intro = 'Exit codes: 0 done, 1 failed, 2 usage or configuration.';
  return page('Command line', intro, block('reeve', help()), block('reeve serve', help('serve')));
}

interface ProtoField {
  readonly name: string;
  readonly number: number;
  readonly label: string;
  readonly type: string;
  readonly typeName?: string;
  readonly oneofIndex?: number;
  readonly proto3Optional?: boolean;
}

/** A message or an enum. */
interface ProtoType {
  readonly name: string;
  readonly field?: readonly ProtoField[];
  readonly value?: readonly { readonly name: string; readonly number?: number }[];
  readonly nestedType?: readonly ProtoType[];
  readonly enumType?: readonly ProtoType[];
  readonly oneofDecl?: readonly { readonly name: string }[];
  readonly options?: { readonly mapEntry?: boolean };
}

interface ProtoMethod {
  readonly name: string;
  readonly inputType: string;
  readonly outputType: string;
  readonly clientStreaming?: boolean;
  readonly serverStreaming?: boolean;
}

/** A file of a descriptor set in proto JSON, with the members that are shown. */
interface ProtoFile {
  readonly name: string;
  readonly package: string;
  readonly messageType?: readonly ProtoType[];
  readonly enumType?: readonly ProtoType[];
  readonly service?: readonly { readonly name: string; readonly method: readonly ProtoMethod[] }[];
  readonly sourceCodeInfo: {
    readonly location: readonly { readonly path?: readonly number[]; readonly leadingComments?: string }[];
  };
}

/** Field numbers of descriptor.proto, of which the paths to comments are made. */
const at = { message: 4, enum: 5, service: 6, field: 2, nestedEnum: 4, method: 2, value: 2 };

/** One proto file as Markdown; comments are found by their path in the descriptor. */
class ProtoPage {
  readonly #file: ProtoFile;
  readonly #comments: ReadonlyMap<string, string>;

  constructor(file: ProtoFile) {
    this.#file = file;
    this.#comments = new Map(
      file.sourceCodeInfo.location.map(({ path = [], leadingComments = '' }) => [
        path.join(),
        leadingComments.trim().replaceAll(/\s*\n\s*/g, ' '),
      ]),
    );
  }

  services(): string[] {
    return (this.#file.service ?? []).map((service, index) => {
      const name = `${this.#file.package}.${service.name}`;
      const rows = service.method.map((method, place) => {
        const served = Object.values<string>(paths).includes(`/${name}/${method.name}`);
        const comment = this.#comment(at.service, index, at.method, place);
        return [code(method.name), signature(method), served ? comment : `${comment} **Not in this version.**`];
      });
      const body = table(['Method', 'Request and response', 'Meaning'], rows);
      return section(name, this.#comment(at.service, index), body);
    });
  }

  types(): string[] {
    return [
      ...(this.#file.messageType ?? []).map((message, index) => this.#message(message, index)),
      ...(this.#file.enumType ?? []).map((type, index) => this.#enum(type.name, type, at.enum, index)),
    ];
  }

  #message(message: ProtoType, index: number): string {
    const rows = (message.field ?? []).map((field, place) => [
      code(field.name),
      String(field.number),
      typeOf(field, message),
      this.#comment(at.message, index, at.field, place),
    ]);
    const body = rows.length === 0 ? 'No fields.' : table(['Field', 'Number', 'Type', 'Meaning'], rows);
    const enums = (message.enumType ?? []).map((type, place) =>
      this.#enum(`${message.name}.${type.name}`, type, at.message, index, at.nestedEnum, place),
    );
    return section(message.name, this.#comment(at.message, index), body, ...enums);
  }

  #enum(name: string, type: ProtoType, ...path: readonly number[]): string {
    const comment = (place: number) => this.#comment(...path, at.value, place);
    const rows = (type.value ?? []).map(({ name, number = 0 }, place) => [code(name), `${number}`, comment(place)]);
    return section(name, this.#comment(...path), table(['Value', 'Number', 'Meaning'], rows));
  }

  #comment(...path: readonly number[]): string {
    return prose(this.#comments.get(path.join()) ?? '');
  }
}

const shortName = (typeName: string) => typeName.replace(/^\.reeve\.v1\./, '');

function signature({ inputType, outputType, clientStreaming, serverStreaming }: ProtoMethod): string {
  const side = (type: string, stream: boolean | undefined) =>
    code(`${stream === true ? 'stream ' : ''}${shortName(type)}`);
  return `${side(inputType, clientStreaming)} → ${side(outputType, serverStreaming)}`;
}

function typeOf(field: ProtoField, message: ProtoType): string {
  const name = nameOf(field);
  const entry = message.nestedType?.find((nested) => `${message.name}.${nested.name}` === name);
  if (entry?.options?.mapEntry === true) return code(`map<${entry.field?.map(nameOf).join(', ')}>`);
  if (field.label === 'LABEL_REPEATED') return `repeated ${code(name)}`;
  if (field.proto3Optional === true) return `optional ${code(name)}`;
  const oneof = field.oneofIndex === undefined ? undefined : message.oneofDecl?.[field.oneofIndex];
  return oneof === undefined ? code(name) : `${code(name)}, one of ${code(oneof.name)}`;
}

function nameOf(field: ProtoField): string {
  return shortName(field.typeName ?? field.type.replace('TYPE_', '').toLowerCase());
}

function grpc(): string {
  const image = execFileSync('node_modules/.bin/buf', ['build', '--as-file-descriptor-set', '-o', '-#format=json']);
  const { file } = JSON.parse(image.toString()) as { file: readonly ProtoFile[] };
  const own = file.filter(({ name }) => name.startsWith('reeve/')).map((each) => new ProtoPage(each));
  const standard = file
    .filter(({ name }) => !name.startsWith('reeve/'))
    .flatMap((each) => (each.service ?? []).map((service) => code(`${each.package}.${service.name}`)));
  return page(
    'gRPC',
    'The protos are in `packages/contract/proto`. Field names are shown as in the protos; in proto JSON they are in lowerCamelCase, ' +
      '64-bit numbers are strings and `bytes` are base64.',
    '## Services',
    ...own.flatMap((each) => each.services()),
    `Besides: ${standard.join(', ')}.`,
    '## Messages and enums',
    ...own.flatMap((each) => each.types()),
  );
}

/** As the formatter wants it, so that the check of the format has nothing to say. */
function formatted(name: string, text: string): [string, string] {
  const args = ['format', '--stdin-file-path', join(folder, name)];
  return [name, execFileSync('node_modules/.bin/biome', args, { input: text, encoding: 'utf8' })];
}

const pages = new Map([
  formatted('audit-events.md', auditEvents()),
  formatted('cli.md', cli()),
  formatted('configuration.md', configuration()),
  formatted('grpc.md', grpc()),
  formatted('http.md', httpPage()),
  formatted('metrics.md', await metricsPage()),
  formatted('problems.md', problemsPage()),
]);

const present = existsSync(folder) ? readdirSync(folder) : [];
const stale = [...new Set([...pages.keys(), ...present])].filter(
  (name) => !present.includes(name) || readFileSync(join(folder, name), 'utf8') !== pages.get(name),
);
if (!process.argv.includes('--check')) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of pages) writeFileSync(join(folder, name), text);
} else if (stale.length > 0) {
  process.stderr.write(`${folder} is out of date: ${stale.join(', ')}\nRun: node scripts/generate-docs.ts\n`);
  process.exitCode = 1;
}
