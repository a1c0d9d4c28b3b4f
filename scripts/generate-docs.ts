// Generates docs/reference from its sources: the settings, the protos, the routes of the HTTP API, the problems, the
// events, the metrics of a running gateway, the audit event types, the schema of policies, the command's own help, the last
// results of the adapters. With --check it writes nothing and fails if the committed files differ.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { paths } from '@reeve/contract';
import { policySchema } from '@reeve/core';
import { describeSettings } from '@reeve/gateway';
import { adaptersPage } from './reference/adapters.ts';
import { auditEventsPage } from './reference/audit-events.ts';
import { eventsPage } from './reference/events.ts';
import { cliPage, manPage } from './reference/cli.ts';
import { httpPage } from './reference/http.ts';
import { metricsPage } from './reference/metrics.ts';
import { code, page, prose, section, table } from './reference/page.ts';
import { problemsPage } from './reference/problems.ts';

const folder = 'docs/reference';

function configuration(): string {
  const rows = describeSettings().map(({ flag, variable, key, byDefault, help }) => [
    ...[variable, flag, key, byDefault].map(code),
    prose(help),
  ]);
  const header = ['Variable', 'Flag', 'Key in the file', 'Default', 'Meaning'];
  return page(
    'Configuration',
    'Every setting of `reeve serve`. A flag comes before a variable, a variable before the file, the file before the default. ' +
      'The file is YAML and is given by `--config`. An empty variable counts as unset.',
    'A value that is not accepted, an unknown key of the file and an unknown variable that starts with `SVC_` stop the start ' +
      'with one line and exit code 2. The line names the setting and shows the value, unless the setting may hold a secret.',
    table(header, rows),
  );
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

/** A file of a descriptor set in proto JSON, with the members that the page shows. */
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

/** Field numbers of descriptor.proto, which make up the paths to comments. */
const at = { message: 4, enum: 5, service: 6, field: 2, nestedEnum: 4, method: 2, value: 2 };

/** One proto file as Markdown. Comments are looked up by their path in the descriptor. */
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

/** Formats a page, so that the format check passes. */
function formatted(name: string, text: string): [string, string] {
  const args = ['format', '--stdin-file-path', join(folder, name)];
  return [name, execFileSync('node_modules/.bin/biome', args, { input: text, encoding: 'utf8' })];
}

const pages = new Map([
  formatted('policy.schema.json', JSON.stringify(policySchema())),
  formatted('adapters.md', adaptersPage()),
  formatted('audit-events.md', auditEventsPage()),
  formatted('cli.md', await cliPage()),
  formatted('configuration.md', configuration()),
  formatted('events.md', eventsPage()),
  formatted('grpc.md', grpc()),
  formatted('http.md', httpPage()),
  formatted('metrics.md', await metricsPage()),
  formatted('problems.md', problemsPage()),
]);

/** Kept with the command, whose package includes it. */
const manual = 'packages/cli/man/reeve.1';
const manualText = await manPage();

const present = existsSync(folder) ? readdirSync(folder) : [];
const stale = [...new Set([...pages.keys(), ...present])].filter(
  (name) => !present.includes(name) || readFileSync(join(folder, name), 'utf8') !== pages.get(name),
);
if (!process.argv.includes('--check')) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of pages) writeFileSync(join(folder, name), text);
  mkdirSync(dirname(manual), { recursive: true });
  writeFileSync(manual, manualText);
} else if (stale.length > 0 || !existsSync(manual) || readFileSync(manual, 'utf8') !== manualText) {
  process.stderr.write(
    `${folder} or ${manual} is out of date: ${stale.join(', ')}\nRun: node scripts/generate-docs.ts\n`,
  );
  process.exitCode = 1;
}
