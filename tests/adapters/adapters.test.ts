import { beforeAll, describe, expect, test } from 'vitest';
import type { Failures } from './run-table.ts';
import { casesFor, runTable } from './run-table.ts';
import { ai } from './subjects/ai.ts';
import { langchain } from './subjects/langchain.ts';
import { mcp } from './subjects/mcp.ts';
import { openaiAgents } from './subjects/openai-agents.ts';
import { sdk } from './subjects/sdk.ts';
import { readTable } from './table.ts';

const table = readTable();
const subjects = [sdk, ai, langchain, openaiAgents, mcp];
let failures: Failures;

beforeAll(async () => {
  failures = await runTable(table, subjects);
}, 240_000);

for (const subject of subjects) {
  describe(subject.name, () => {
    for (const { name, title } of casesFor(table, subject.name)) {
      test(title, () => {
        expect(failures.get(subject)?.has(name)).toBe(true);
        expect(failures.get(subject)?.get(name)).toBeUndefined();
      });
    }
  });
}
