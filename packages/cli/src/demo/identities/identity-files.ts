import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DemoIssuer } from './demo-issuer.ts';
import { demoAudience } from './demo-issuer.ts';

/** Tells the gateway whose tokens count, for people and for workloads. Returns the flags that name the files. */
export function writeIdentityFiles(folder: string, { url, jwksUri }: DemoIssuer): Record<string, string> {
  const trusted = { issuer: url, audience: demoAudience, jwks_uri: jwksUri };
  const job = {
    ...trusted,
    match: { sub: 'ci:{team:*}:{job:*}' },
    agent: 'demo-globex/{team}/{job}',
    register: true,
  };
  const subjects = join(folder, 'subjects.yaml');
  const workloads = join(folder, 'workloads.yaml');
  // JSON is YAML, too.
  writeFileSync(subjects, `${JSON.stringify([trusted], undefined, 2)}\n`);
  writeFileSync(workloads, `${JSON.stringify([job], undefined, 2)}\n`);
  return { '--subjects': subjects, '--workloads': workloads };
}
