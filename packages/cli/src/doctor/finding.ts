/** One line of the doctor: in order, or what to do about it. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly detail: string;
  /** What to do; empty where nothing is to be done. */
  readonly advice: string;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, advice: '' };
}

export function warning(check: string, detail: string, advice: string): Finding {
  return { check, status: 'warning', detail, advice };
}

export function failed(check: string, detail: string, advice: string): Finding {
  return { check, status: 'failed', detail, advice };
}

export function skipped(check: string, detail: string, advice: string): Finding {
  return { check, status: 'skipped', detail, advice };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
