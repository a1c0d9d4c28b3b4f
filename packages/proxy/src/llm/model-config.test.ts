import { expect, test } from 'vitest';
import { upstreamFor } from './model-call.ts';
import { ModelConfigError, modelConfigOf } from './model-config.ts';

const openai = {
  name: 'openai',
  kind: 'openai',
  base_url: 'https://api.openai.com/v1',
  api_key_env: 'KEY',
  models: ['gpt-*'],
};
const variable = (name: string) => (name === 'KEY' ? ' sk-secret ' : undefined);

function errorOf(document: unknown): string {
  try {
    modelConfigOf(document, variable);
  } catch (error) {
    expect(error).toBeInstanceOf(ModelConfigError);
    return (error as Error).message;
  }
  throw new Error('the file was accepted');
}

test('the file is read, with defaults', () => {
  const [upstream] = modelConfigOf({ upstreams: [openai] }, variable);
  expect(upstream).toMatchObject({ name: 'openai', kind: 'openai', apiKey: 'sk-secret', maxOutputTokens: 4096 });
  const [other] = modelConfigOf({ upstreams: [{ ...openai, api_key_env: undefined, max_output_tokens: 9 }] }, variable);
  expect(other).toMatchObject({ apiKey: undefined, maxOutputTokens: 9 });
});

test.each([
  [null, 'the file must be a map'],
  [{}, '"upstreams" must be a list'],
  [{ upstreams: [] }, 'at least one'],
  [{ upstreams: [openai], more: 1 }, 'unknown key "more"'],
  [{ upstreams: [{ ...openai, url: 'x' }] }, 'upstreams[0]: unknown key "url"'],
  [{ upstreams: [{ ...openai, kind: 'gemini' }] }, 'upstreams[0].kind must be one of openai, anthropic'],
  [{ upstreams: [{ ...openai, base_url: 'ftp://x' }] }, 'upstreams[0].base_url must be'],
  [{ upstreams: [{ ...openai, base_url: 'https://u:hidden@x' }] }, 'must not hold a credential'],
  [{ upstreams: [{ ...openai, api_key_env: 'OTHER' }] }, 'the environment variable OTHER is not set'],
  [{ upstreams: [{ ...openai, models: [] }] }, 'upstreams[0].models must be'],
  [{ upstreams: [{ ...openai, models: ['[a'] }] }, 'upstreams[0].models[0] is not a glob'],
  [{ upstreams: [{ ...openai, max_output_tokens: -1 }] }, 'upstreams[0].max_output_tokens must be'],
  [{ upstreams: [{ ...openai, name: 'a b' }] }, 'upstreams[0].name must be'],
  [{ upstreams: [openai, openai] }, 'two upstreams have the name "openai"'],
])('%j is refused in one line', (document, message) => {
  const error = errorOf(document);
  expect(error).toContain(message);
  expect(error).not.toMatch(/\n|sk-secret|hidden/);
});

test('the first upstream of the kind whose glob matches serves a model', () => {
  const upstreams = modelConfigOf(
    {
      upstreams: [
        { ...openai, name: 'small', models: ['gpt-?-mini', 'o[13]'] },
        { ...openai, name: 'large', models: ['gpt-*', 'org/**'] },
        { ...openai, name: 'claude', kind: 'anthropic', models: ['**'] },
      ],
    },
    variable,
  );
  const served = (kind: 'openai' | 'anthropic', model: string) => upstreamFor(upstreams, kind, model)?.name;
  expect(served('openai', 'gpt-5-mini')).toBe('small');
  expect(served('openai', 'o3')).toBe('small');
  expect(served('openai', 'gpt-5')).toBe('large');
  expect(served('openai', 'org/a/b')).toBe('large');
  expect(served('openai', 'gpt-x/y')).toBeUndefined();
  expect(served('openai', 'Xgpt-5')).toBeUndefined();
  expect(served('openai', 'gpt-5\n')).toBe('large');
  expect(served('openai', 'claude-4')).toBeUndefined();
  expect(served('anthropic', 'claude-4')).toBe('claude');
});
