import { Link } from '@tanstack/react-router';
import type { RunPlace } from './run.ts';
import { nameOfRun } from './run.ts';
import { searchOf } from './run-search.ts';

/** A run, which leads to its page. */
export function RunLink({ run }: { readonly run: RunPlace }) {
  return (
    <Link to="/runs/run" search={searchOf(run)} className="break-all text-accent underline underline-offset-2">
      {nameOfRun(run)}
    </Link>
  );
}
