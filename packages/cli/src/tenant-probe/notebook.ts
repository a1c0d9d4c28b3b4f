export interface Finding {
  /** Method and path, or another attempt. */
  readonly operation: string;
  /** The credential that was used. */
  readonly credential: string;
  readonly what: string;
}

export interface TenantReport {
  readonly findings: readonly Finding[];
  readonly tried: {
    /** Calls by operation. Every operation of the document is listed, with 0 if it could not be tried. */
    readonly operations: Readonly<Record<string, number>>;
    readonly credentials: number;
    /** Pairs of answers, one about another tenant's record and one about a record that does not exist. */
    readonly comparisons: number;
    readonly calls: number;
  };
}

/** The notes of a probe. */
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
