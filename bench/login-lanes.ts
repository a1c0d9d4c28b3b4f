import { Agent, request } from 'node:http';
import { secondsSince } from './fleet.ts';
import { Histogram } from './histogram.ts';
import type { LoadJob, LoginsResult } from './load-protocol.ts';

type Job = Extract<LoadJob, { kind: 'logins' }>;

const person = (number: number) => ({
  email: `person-${number}@bench.example`,
  password: `a password of person ${number}`,
});

/** Makes the accounts that log in. The first is the owner; the others need open registration. */
export async function registerPeople(http: string, people: number): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  for (let number = 0; number < people; number++) {
    const status = await post(agent, `${http}/api/v1/auth/register`, person(number));
    if (status !== 201) throw new Error(`registering an account at ${http} was answered with ${status}`);
  }
  agent.destroy();
}

/** A closed loop: each account logs in again as soon as its login is answered, until the time is up. */
export async function logIn({ http, people, seconds }: Job): Promise<LoginsResult> {
  const agent = new Agent({ keepAlive: true });
  const histogram = new Histogram();
  const startedAt = performance.now();
  let failed = 0;
  const lane = async (number: number) => {
    while (secondsSince(startedAt) < seconds) {
      const sentAt = performance.now();
      const status = await post(agent, `${http}/api/v1/auth/login`, person(number));
      histogram.record((performance.now() - sentAt) * 1000);
      if (status !== 200) failed++;
    }
  };
  await Promise.all(Array.from({ length: people }, (_, number) => lane(number)));
  agent.destroy();
  return { done: histogram.total, failed, seconds: secondsSince(startedAt), counts: histogram.counts };
}

function post(agent: Agent, url: string, body: object): Promise<number> {
  const text = JSON.stringify(body);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(text);
  });
}
