export interface Finding {
  /** Method and path, or what else was tried. */
  readonly operation: string;
  /** With whose credential. */
  readonly credential: string;
  readonly what: string;
}

export interface TenantReport {
  readonly findings: readonly Finding[];
  readonly tried: {
    /** Calls by operation; every operation of the document is here, those that could not be tried with 0. */
    readonly operations: Readonly<Record<string, number>>;
    readonly credentials: number;
    /** Pairs of answers, one about another tenant's record and one about a record that does not exist. */
    readonly comparisons: number;
    readonly calls: number;
  };
}

/** What a probe writes down as it goes. */
export class Notebook {
  readonly findings: Finding[] = [];
  readonly operations: Record<string, number> = {};
  comparisons = 0;

  find(operation: string, credential: string, what: string): void {
    this.findings.push({ operation, credential, what });
  }

  count(operation: string, calls: number): void {
    this.operations[operation] = (this.operations[operation] ?? 0) + calls;
  }
}
