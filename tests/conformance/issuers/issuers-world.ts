import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { McpWorld } from '../../doors/mcp-world.ts';
import type { TokenShape } from '../../harness/authorization-server.ts';
import { AuthorizationServer } from '../../harness/authorization-server.ts';
import { eventually } from '../../harness/eventually.ts';
import type { Entry } from './guide-entry.ts';

const policy = `
name: issuers
rules:
  - { name: staff, effect: allow, tools: [search, echo], users: ["*@acme.example"], when: '"staff" in user.groups' }
  - { name: work, effect: allow, tools: [work] }
`;

/** Something that must hold with an issuer of others. It throws if it does not. */
export interface IssuerCase {
  readonly name: string;
  readonly run: (world: IssuersWorld) => Promise<void>;
}

/** A gateway, and a provider whose tokens it takes as those of users and, by entries that a case gives, of workloads. */
export class IssuersWorld implements AsyncDisposable {
  readonly provider: AuthorizationServer;
  readonly mcp: McpWorld;
  /** The programs of SPIRE, or empty. */
  readonly spire: string;
  readonly folder: string;
  readonly #shapes: Map<string, TokenShape>;

  private constructor(
    parts: Pick<IssuersWorld, 'provider' | 'mcp' | 'spire' | 'folder'>,
    shapes: Map<string, TokenShape>,
  ) {
    ({ provider: this.provider, mcp: this.mcp, spire: this.spire, folder: this.folder } = parts);
    this.#shapes = shapes;
  }

  static async start(spire: string): Promise<IssuersWorld> {
    const shapes = new Map<string, TokenShape>();
    const shapeOf = (subject: string): TokenShape => shapes.get(subject) ?? { payload: personClaims(subject) };
    const provider = await AuthorizationServer.start({ machines: [machine], shapeOf });
    const folder = mkdtempSync(join(tmpdir(), 'reeve-issuers-'));
    const [subjects, workloads] = [join(folder, 'subjects.yaml'), join(folder, 'workloads.yaml')];
    const issuer = {
      issuer: provider.url,
      audience: ['https://reeve.example', 'mcp'],
      jwks_uri: `${provider.url}/jwks`,
    };
    writeFileSync(subjects, JSON.stringify([issuer]));
    writeFileSync(workloads, '[]');
    const mcp = await McpWorld.start(policy, { SVC_SUBJECTS: subjects, SVC_WORKLOADS: workloads });
    return new IssuersWorld({ provider, mcp, spire, folder }, shapes);
  }

  get gateway() {
    return this.mcp.gateway;
  }

  get workloadsFile(): string {
    return join(this.folder, 'workloads.yaml');
  }

  /** Takes these entries from now on, and waits until this token is taken. */
  async trust(entry: Entry, token: string): Promise<void> {
    writeFileSync(this.workloadsFile, JSON.stringify([entry]));
    await eventually(() => this.gateway.identify(token), 400);
  }

  /** A token of this shape for the audience `reeve`. */
  workloadToken(shape: TokenShape): Promise<string> {
    this.#shapes.set(machine, shape);
    return this.provider.machineToken(machine, 'reeve');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mcp[Symbol.asyncDispose]();
    await this.provider[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const machine = 'machine';

function personClaims(name: string) {
  const groups = name === 'eve' ? [] : ['staff', 'support'];
  return { email: `${name}@acme.example`, email_verified: name !== 'mallory', groups };
}
