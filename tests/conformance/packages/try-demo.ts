import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endWithUs } from '../../harness/end-with-us.ts';

/** Starts the demo and waits until the board has operations. */
export async function tryDemo(reeve: string, path: string): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'reeve-demo-home-'));
  const args = ['demo', '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--output', 'json'];
  const child = spawn(reeve, args, {
    cwd: home,
    env: { HOME: home, PATH: path },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithUs(child);
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { http, api_key: key } = JSON.parse(line) as { http: string; api_key: string };
    assert.match(await (await fetch(http)).text(), /<script/);
    const operations = async () => {
      const answer = await fetch(`${http}/api/v1/ops`, { headers: { authorization: `Bearer ${key}` } });
      return ((await answer.json()) as { items: readonly unknown[] }).items.length;
    };
    while ((await operations()) === 0) await new Promise((resolve) => setTimeout(resolve, 200));
  } finally {
    const closed = once(child, 'close');
    child.kill('SIGINT');
    await closed;
    rmSync(home, { recursive: true, force: true });
  }
}
