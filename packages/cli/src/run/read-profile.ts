import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { parse } from 'yaml';
import { isObject } from '../is-object.ts';
import type { LimitName } from './cgroup/limits.ts';
import { limitNames } from './cgroup/limits.ts';
import { FloorError } from './floor-error.ts';
import type { Profile } from './profile.ts';
import { leastLimits, longestGraceSecs, lostGatewayWays } from './profile.ts';
import { shippedProfiles } from './shipped-profiles.ts';

const lists = ['write', 'read', 'hide', 'env'] as const;

/** The profile of this name, or in this file. */
export function readProfile(name: string): Profile {
  const shipped = Object.hasOwn(shippedProfiles, name) ? shippedProfiles[name] : undefined;
  if (shipped !== undefined) return shipped;
  const wrong = (what: string) => new FloorError(`--profile ${name}: ${what}`);
  let value: unknown;
  try {
    value = parse(readFileSync(name, 'utf8')) ?? {};
  } catch (error) {
    throw wrong(`it is neither ${Object.keys(shippedProfiles).join(' nor ')}, nor a YAML file: ${firstLine(error)}`);
  }
  if (!isObject(value)) throw wrong('it must be a map of members');
  const known = [...lists, ...limitNames, 'grace', 'lost_gateway'];
  const unknown = Object.keys(value).find((member) => !known.includes(member));
  if (unknown !== undefined) throw wrong(`there is no member "${unknown}"; there are ${known.join(', ')}`);
  const listOf = (member: (typeof lists)[number]) => {
    const given: unknown = value[member] ?? [];
    if (isListOfTexts(given)) return member === 'env' ? given : given.map(fromHome);
    throw wrong(`${member} must be a list of texts`);
  };
  const { grace, lost_gateway: lost } = value;
  if (
    grace !== undefined &&
    !(typeof grace === 'number' && Number.isInteger(grace) && grace >= 0 && grace <= longestGraceSecs)
  ) {
    throw wrong(`grace must be a whole number of seconds from 0 to ${longestGraceSecs}`);
  }
  const lostGateway = lostGatewayWays.find((way) => way === lost);
  if (lost !== undefined && lostGateway === undefined)
    throw wrong(`lost_gateway must be one of ${lostGatewayWays.join(', ')}`);
  const limitOf = (name: LimitName) => {
    const given: unknown = value[name];
    if (given === undefined || isLimit(name, given)) return given;
    throw wrong(`${name} must be a ${name === 'cpus' ? '' : 'whole '}number of at least ${leastLimits[name]}`);
  };
  return {
    write: listOf('write'),
    read: listOf('read'),
    hide: listOf('hide'),
    env: listOf('env'),
    memory: limitOf('memory'),
    pids: limitOf('pids'),
    cpus: limitOf('cpus'),
    grace,
    lostGateway,
  };
}

/** Lists add up. For the rest the flags count before the profile. */
export function joined(flags: Profile, profile: Profile): Profile {
  const both = (member: (typeof lists)[number]) => [...flags[member], ...profile[member]];
  return {
    write: both('write'),
    read: both('read'),
    hide: both('hide'),
    env: both('env'),
    memory: flags.memory ?? profile.memory,
    pids: flags.pids ?? profile.pids,
    cpus: flags.cpus ?? profile.cpus,
    grace: flags.grace ?? profile.grace,
    lostGateway: flags.lostGateway ?? profile.lostGateway,
  };
}

function isLimit(name: LimitName, given: unknown): given is number {
  if (typeof given !== 'number' || !Number.isFinite(given) || given < leastLimits[name]) return false;
  return name === 'cpus' || Number.isSafeInteger(given);
}

function isListOfTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '');
}

function fromHome(path: string): string {
  return path.replace(/^~(?=\/|$)/, () => homedir());
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
