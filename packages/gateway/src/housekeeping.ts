import type { Governance } from '@reeve/core';
import { OpsCheckpoint, sweepOps } from '@reeve/core';
import type { Config } from './config/settings.ts';

const rowsPerTurn = 200;

/** Sweeps operations that are over and saves those that live long, in small steps between decisions. */
export function startHousekeeping(gov: Governance, config: Config): () => void {
  const tickMs = config.opsSweepTickSecs * 1000;
  const checkpoint = new OpsCheckpoint(gov, tickMs, config.opsTtlSecs * 1000);
  let saving = false;
  const save = () => {
    saving = checkpoint.step(rowsPerTurn);
    if (saving) setImmediate(save);
    else checkpoint.advance();
  };
  const timer = setInterval(() => {
    sweepOps(gov);
    if (config.opsDurable && !saving) save();
  }, tickMs);
  return () => clearInterval(timer);
}
