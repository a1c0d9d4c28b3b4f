/** One line of the doctor: a passed check, or what to do. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  readonly detail: string;
  /** What to do. Empty if nothing is needed. */
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
