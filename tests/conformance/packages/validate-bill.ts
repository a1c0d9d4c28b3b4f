import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import type { LockFile } from '../../../scripts/release/sbom.ts';
import { billOfMaterials } from '../../../scripts/release/sbom.ts';
import { EmptyProject } from '../../packages/empty-project.ts';

/** Holds the bill of materials against the schema that the CycloneDX project publishes with its library. */
export async function validateBill(version: string): Promise<void> {
  using project = new EmptyProject();
  await project.install(['--ignore-scripts', '@cyclonedx/cyclonedx-library']);
  const folder = join(project.folder, 'node_modules/@cyclonedx/cyclonedx-library/res/schema');
  const schema = (name: string) =>
    JSON.parse(readFileSync(join(folder, `${name}.SNAPSHOT.schema.json`), 'utf8')) as object;
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  const validate = ajv.compile(schema('bom-1.6'));
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as LockFile;
  const about = { version, node: process.versions.node, date: new Date().toISOString(), id: randomUUID() };
  assert.ok(validate(billOfMaterials(lock, about)), JSON.stringify(validate.errors?.slice(0, 3)));
}
